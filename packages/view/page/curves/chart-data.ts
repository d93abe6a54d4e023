/** What a chart draws: the points of its curves for each run, on common steps. */
import type { MetricsLine } from '@toolenv/training';
import type { ChartSpec } from './chart-specs.ts';

export interface ChartCurve {
  label: string;
  /** Position of the run among all runs. */
  run: number;
  /** Position of the curve in its chart. */
  curve: number;
  /** [S] a value for each step of the chart; `null` where the run has none. */
  values: (number | null)[];
}

export interface ChartData {
  /** [S] ascending. */
  steps: number[];
  curves: ChartCurve[];
}

export interface RunLines {
  name: string;
  /** Position among all runs, which gives the colour. */
  run: number;
  lines: readonly MetricsLine[];
}

/** @param smoothing Weight of the past in an exponential moving average, 0 to less than 1. */
export function chartData({ curves }: ChartSpec, runs: readonly RunLines[], smoothing: number): ChartData {
  const found = runs.flatMap(({ name, run, lines }) =>
    curves.map(({ type, metric, label }, curve) => {
      const points = new Map<number, number>();
      for (const line of lines) {
        const value = line.type === type ? line.metrics[metric] : undefined;
        if (typeof value === 'number') points.set(line.step, value);
      }
      return { label: runs.length > 1 ? name : label, run, curve, points };
    }),
  );
  const drawn = found.filter(({ points }) => points.size > 0);
  const steps = [...new Set(drawn.flatMap(({ points }) => [...points.keys()]))].sort((a, b) => a - b);
  return {
    steps,
    curves: drawn.map(({ points, ...rest }) => ({
      ...rest,
      values: smooth(
        steps.map((step) => points.get(step) ?? null),
        smoothing,
      ),
    })),
  };
}

/** An exponential moving average without a bias to its start (Adam's correction). Gaps stay gaps. */
export function smooth(values: readonly (number | null)[], weight: number): (number | null)[] {
  let [average, share] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    average = weight * average + (1 - weight) * value;
    share = weight * share + (1 - weight);
    return average / share;
  });
}
