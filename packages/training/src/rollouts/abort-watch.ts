/** AbortWatch: stops a run in which too many episodes are aborted. The other episodes may be the easy tasks only. */
import { type Outcome, ToolEnvError } from '@toolenv/core';

/** How many of the last episodes are looked at. */
const window = 64;

/** Watches the episodes of a run as they end. */
export class AbortWatch {
  readonly #most: number;
  /** The messages of the last episodes' faults; `undefined` for an episode that was not aborted. */
  readonly #last: (string | undefined)[] = [];

  /** @param maxAborted The share of the last 64 episodes that may be aborted: 1 for all of them. */
  constructor(maxAborted: number) {
    this.#most = Math.floor(maxAborted * window);
  }

  /** @throws ToolEnvError `infrastructure.too_many_aborted`, with the most frequent causes, beyond the share. */
  add(outcome: Outcome): void {
    const { code, message } = outcome.kind === 'aborted' ? outcome.cause : ({} as Partial<ToolEnvError>);
    this.#last.push(code && `${code}: ${message}`);
    if (this.#last.length > window) this.#last.shift();
    const faults = this.#last.filter((fault) => fault !== undefined);
    if (faults.length <= this.#most) return;
    const share = `${faults.length} of the last ${this.#last.length} episodes were aborted`;
    const remedy = 'Remove the cause, or allow more with maxAborted';
    throw new ToolEnvError(
      'infrastructure.too_many_aborted',
      `${share}. ${remedy}. Causes: ${causes(faults)}`,
    );
  }
}

/** The three most frequent faults. */
function causes(faults: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const fault of faults) counts.set(fault, (counts.get(fault) ?? 0) + 1);
  const frequent = [...counts].sort(([, a], [, b]) => b - a).slice(0, 3);
  return frequent.map(([fault, count]) => `${count} × ${fault}`).join('; ');
}
