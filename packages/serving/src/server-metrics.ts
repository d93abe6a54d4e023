/** ServerMetrics: what the clients of a server have played, for Prometheus. */
import type { Outcome } from '@toolenv/core';
import { type Metric, processMetrics, prometheusText } from './prometheus-text.ts';

/** `left`: the client left before the episode had ended. */
type End = Exclude<Outcome['kind'], 'running'> | 'left';

/** Counts the episodes of all clients of a server by how they ended. */
export class ServerMetrics {
  #begun = 0;
  #steps = 0;
  readonly #ended: Record<End, number> = { terminated: 0, truncated: 0, aborted: 0, left: 0 };

  /** @returns The number of the episode, from 0. */
  begin(): number {
    return this.#begun++;
  }

  step(): void {
    this.#steps += 1;
  }

  end(how: End): void {
    this.#ended[how] += 1;
  }

  /** In the text format of Prometheus. */
  text(sessions: number): string {
    const counter = (name: string, help: string, values: Metric['values']): Metric => ({
      ...{ name: `toolenv_${name}`, help, values },
      type: 'counter',
    });
    const ended = Object.entries(this.#ended).map(([how, count]) => [`{outcome="${how}"}`, count]);
    return prometheusText([
      { ...counter('sessions', 'Open sessions.', { '': sessions }), type: 'gauge' },
      counter('episodes_begun_total', 'Episodes that were begun.', { '': this.#begun }),
      counter('episodes_total', 'Episodes that have ended.', Object.fromEntries(ended)),
      counter('steps_total', 'Turns that were played.', { '': this.#steps }),
      ...processMetrics(),
    ]);
  }
}
