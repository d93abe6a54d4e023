/** The metrics of a run without how long things took, to compare runs. */
import type { MetricsLine } from '@toolenv/training';

export function timeless(lines: readonly MetricsLine[]): object[] {
  return lines.map(({ type, step, metrics }) => {
    const lasting = Object.entries(metrics).filter(
      ([name]) => !/^(time\/|memory\/|step_time$|tokens_per_second\/)/.test(name),
    );
    return { type, step, metrics: Object.fromEntries(lasting) };
  });
}
