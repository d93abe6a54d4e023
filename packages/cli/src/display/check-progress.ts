/** The progress bars of `toolenv check`: the rules of a subject, and the actions that fuzz it. */
import { type RuleId, rules } from '@toolenv/testing';
import { Progress, type ProgressOptions } from './progress.ts';

export class CheckProgress {
  readonly #actions: number;
  readonly #begun: Set<RuleId> = new Set();
  #subject = '';
  /** Prefix of the rules of the subject. */
  #family = '';
  #status = '';
  #bar: { of: string; progress: Progress } | undefined;

  /** @param actions Fuzzed actions of an environment. */
  constructor(actions: number) {
    this.#actions = actions;
  }

  /** @param checked The rules that are being checked now, of which there is at least one. */
  rules(checked: readonly RuleId[], subject: string): void {
    if (subject !== this.#subject) this.#begun.clear();
    this.#subject = subject;
    const [first, last] = [checked[0]!, checked.at(-1)];
    this.#status = first === last ? `${first} ${rules[first].title}` : `${first} to ${last}`;
    // A warning comes among the rules of its subject.
    if (!first.startsWith('WARN-')) this.#family = first.replace(/\d+$/, '');
    const family = this.#family;
    const total = Object.keys(rules).filter((rule) => rule.startsWith(family)).length;
    this.#show(`${subject}, rules`, total, this.#begun.size, { isUneven: true });
    for (const rule of checked) if (rule.startsWith(family)) this.#begun.add(rule);
  }

  actions(done: number): void {
    this.#show(`${this.#subject}, actions`, this.#actions, Math.min(done, this.#actions));
  }

  /** Removes the bar until there is something else to show. */
  stop(): void {
    this.#bar?.progress.stop();
    this.#bar = undefined;
  }

  #show(label: string, total: number, done: number, options: ProgressOptions = {}): void {
    if (this.#bar?.of !== label) {
      this.stop();
      this.#bar = { of: label, progress: new Progress(label, total, { isLate: true, ...options }) };
    }
    this.#bar.progress.update(done, this.#status);
  }
}
