/** What a check is doing, on one line of a terminal. */
import { type RuleId, rules } from '@toolenv/testing';
import { SingleBar } from 'cli-progress';
import { countText } from './number-text.ts';

/** Milliseconds before the line appears: a quick check needs none. */
const delay = 2000;

/** Shows nothing where stderr is not a terminal. */
export class CheckProgress {
  readonly #begun: number = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #bar: SingleBar | undefined;
  #line = '';
  #actions = '';

  constructor() {
    if (!process.stderr.isTTY) return;
    this.#timer = setTimeout(() => this.#show(), delay).unref();
    // The bar turns off the terminal's line wrapping, which must not outlive a process that quits at once.
    process.once('exit', this.stop);
  }

  /** The rules that are being checked now. */
  readonly rules = (checked: readonly RuleId[], subject: string): void => {
    const [first, last] = [checked[0], checked.at(-1)];
    if (first === undefined) return;
    const what = first === last ? `${first} ${rules[first].title}` : `${first} to ${last}`;
    this.#line = `${subject}  ${what}`;
    this.#actions = '';
    this.#show();
  };

  /** The number of fuzzed actions so far. */
  readonly actions = (done: number, total: number): void => {
    this.#actions = `${countText(Math.min(done, total))}/${countText(total)} actions`;
    this.#show();
  };

  /** Removes the line until there is something else to show. */
  readonly clear = (): void => {
    this.#bar?.stop();
    this.#bar = undefined;
  };

  readonly stop = (): void => {
    clearTimeout(this.#timer);
    process.removeListener('exit', this.stop);
    this.clear();
  };

  #show(): void {
    // A check without pauses never lets the timer fire, so the time is looked at here too.
    if (!process.stderr.isTTY || performance.now() - this.#begun < delay) return;
    if (!this.#bar) {
      this.#bar = new SingleBar({
        format: () => [this.#line, this.#actions].filter(Boolean).join('  '),
        stream: process.stderr,
        clearOnComplete: true,
        forceRedraw: true,
      });
      this.#bar.start(1, 0);
    }
    this.#bar.update(0);
  }
}
