/** The records of a run without how long things took and how much memory they needed, to compare runs. */
import type { MetricsLine } from '@toolenv/training';

export function timeless(lines: readonly MetricsLine[]): object[] {
  return lines.map(({ type, step, metrics }) => {
    const lasting = Object.entries(metrics).filter(
      ([name]) => !/^(time\/|memory\/|step_time$|tokens_per_second\/)/.test(name),
    );
    return { type, step, metrics: Object.fromEntries(lasting) };
  });
}

/** The text of a run's files without what differs between two runs of the same program. */
export function withoutTimes(text: string): string {
  return text.replace(/"((step_)?time|memory\/|tokens_per_second|milliseconds)[\w/]*":[\d.e-]+/g, '');
}
