/** prometheusText: counters and gauges in the text format of Prometheus, version 0.0.4. */

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
