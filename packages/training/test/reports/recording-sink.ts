/** A sink that keeps what it is given, and fails as often as it is told. */
import type { MetricSink, ReportedMetrics, ReportedRun, RunEnd } from '../../src/reports/metric-sink.ts';

export class RecordingSink implements MetricSink {
  readonly name: string;
  readonly endTime: number;
  runs: ReportedRun[] = [];
  events: ReportedMetrics[] = [];
  ends: RunEnd[] = [];
  /** Called before each call of the sink. */
  trouble: (call: 'open' | 'write' | 'close') => unknown = () => {};

  constructor(name = 'recording', endTime = 10_000) {
    this.name = name;
    this.endTime = endTime;
  }

  async open(run: ReportedRun): Promise<string> {
    await this.trouble('open');
    this.runs.push(run);
    return run.id ?? `${this.name}-1`;
  }

  async write(events: readonly ReportedMetrics[]): Promise<void> {
    await this.trouble('write');
    this.events.push(...events);
  }

  async close(end: RunEnd): Promise<void> {
    await this.trouble('close');
    this.ends.push(end);
  }
}

/** Warnings of the process while `work` runs. */
export async function warningsOf(work: () => Promise<void>): Promise<string[]> {
  const warnings: string[] = [];
  const listen = (warning: Error) => void warnings.push(warning.message);
  process.on('warning', listen);
  try {
    await work();
    // A warning is emitted in the next tick.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('warning', listen);
  }
  return warnings;
}
