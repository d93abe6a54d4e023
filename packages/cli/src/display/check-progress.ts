/** What a check is doing: the rules that it checks now, and how many actions it has fuzzed. */
import { type RuleId, rules } from '@toolenv/testing';
import { LateStatus } from './late-status.ts';
import { countText } from './number-text.ts';

export class CheckProgress {
  readonly #status = new LateStatus();
  #line = '';

  /** The rules that are being checked now. */
  readonly rules = (checked: readonly RuleId[], subject: string): void => {
    const [first, last] = [checked[0], checked.at(-1)];
    if (first === undefined) return;
    const what = first === last ? `${first} ${rules[first].title}` : `${first} to ${last}`;
    this.#line = `${subject}  ${what}`;
    this.#status.show(this.#line);
  };

  /** The number of fuzzed actions so far. */
  readonly actions = (done: number, total: number): void => {
    const actions = `${countText(Math.min(done, total))}/${countText(total)} actions`;
    this.#status.show(`${this.#line}  ${actions}`);
  };

  clear(): void {
    this.#status.clear();
  }

  stop(): void {
    this.#status.stop();
  }
}
