/** ServerMetrics: what the clients of a server have played, for Prometheus. */
import type { Outcome } from '@toolenv/core';

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

export interface Metric {
  name: string;
  help: string;
  type: 'counter' | 'gauge';
  /** By their labels, such as `{outcome="aborted"}`; `''` without labels. */
  values: Readonly<Record<string, number>>;
}

/** Content type of the text. */
export const prometheusType = 'text/plain; version=0.0.4; charset=utf-8';

/** The metrics in Prometheus' text format. */
export function prometheusText(metrics: readonly Metric[]): string {
  return metrics.map(metricText).join('');
}

/** Memory and CPU time of this process. */
export function processMetrics(): Metric[] {
  const { user, system } = process.cpuUsage();
  return [
    {
      name: 'process_resident_memory_bytes',
      help: 'Resident memory in bytes.',
      type: 'gauge',
      values: { '': process.memoryUsage.rss() },
    },
    {
      name: 'process_cpu_seconds_total',
      help: 'User and system time in seconds.',
      type: 'counter',
      values: { '': (user + system) / 1e6 },
    },
  ];
}

function metricText({ name, help, type, values }: Metric): string {
  const lines = Object.entries(values).map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}
