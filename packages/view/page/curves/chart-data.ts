/** What a chart draws: the points of its curves for each run, on a common axis. */
import type { MetricsLine } from '@toolenv/training';
import { csvText } from '../csv.ts';
import type { ChartSpec } from './chart-specs.ts';

export interface ChartCurve {
  label: string;
  /** Position of the run among all runs. */
  run: number;
  /** Position of the curve in its chart. */
  curve: number;
  /** [X] a value for each place of the axis; `null` where the run has none. */
  values: (number | null)[];
  /** [X] least and greatest of the runs that the curve is the mean of. */
  band?: { low: (number | null)[]; high: (number | null)[] };
}

export interface ChartData {
  /** [X] ascending: steps, or what else the axis has. */
  places: number[];
  curves: ChartCurve[];
}

export interface RunLines {
  name: string;
  /** Position among all runs, which gives the colour. */
  run: number;
  lines: readonly MetricsLine[];
}

/** Runs that differ by their seed alone, drawn as one curve. */
export type RunsTogether = readonly [RunLines, ...RunLines[]];

/** What runs are compared by: their steps, or what the steps so far have cost. */
export const axes = {
  step: 'steps',
  time: 'minutes',
  tokens: 'generated tokens',
  episodes: 'episodes',
} as const;
export type Axis = keyof typeof axes;

export interface ChartSettings {
  /** Weight of the past in an exponential moving average, 0 to less than 1. */
  smoothing?: number;
  axis?: Axis;
  /** Whether values lie on a logarithmic axis, which has no place for 0 and less. */
  isLogarithmic?: boolean;
}

export function chartData(
  { curves }: ChartSpec,
  runs: readonly RunsTogether[],
  { smoothing = 0, axis = 'step', isLogarithmic = false }: ChartSettings = {},
): ChartData {
  const drawn = runs.flatMap((together) =>
    curves.flatMap((curve, number) => {
      const points = pointsOf(together, curve, axis);
      const [{ name, run }] = together;
      const ofRun = together.length > 1 ? `${name} and ${together.length - 1} more` : name;
      return points.size > 0
        ? [
            {
              label: runs.length > 1 || together.length > 1 ? ofRun : curve.label,
              run,
              curve: number,
              points,
            },
          ]
        : [];
    }),
  );
  const places = [...new Set(drawn.flatMap(({ points }) => [...points.keys()]))].sort((a, b) => a - b);
  const shown = (value: number | undefined) =>
    value === undefined || (isLogarithmic && value <= 0) ? null : value;
  return {
    places,
    curves: drawn.map(({ points, ...rest }) => {
      const along = (part: keyof Point) =>
        smooth(
          places.map((place) => shown(points.get(place)?.[part])),
          smoothing,
        );
      const isMean = [...points.values()].some(({ low, high }) => low < high);
      return {
        ...rest,
        values: along('mean'),
        ...(isMean && { band: { low: along('low'), high: along('high') } }),
      };
    }),
  };
}

interface Point {
  mean: number;
  low: number;
  high: number;
}

/** Place on the axis → the runs' values there. Several runs meet at their steps: the place of a step is the mean of theirs. */
function pointsOf(
  together: RunsTogether,
  { type, metric }: ChartSpec['curves'][number],
  axis: Axis,
): Map<number, Point> {
  const bySteps = new Map<number, { places: number[]; values: number[] }>();
  for (const { lines } of together) {
    const placeOf = placesOf(lines, axis);
    for (const line of lines) {
      const value = line.type === type ? line.metrics[metric] : undefined;
      const place = placeOf.get(line.step) ?? 0;
      if (typeof value !== 'number') continue;
      const found = bySteps.get(line.step) ?? { places: [], values: [] };
      found.places.push(place);
      found.values.push(value);
      bySteps.set(line.step, found);
    }
  }
  return new Map(
    [...bySteps.values()].map(({ places, values }) => [
      mean(places),
      { mean: mean(values), low: Math.min(...values), high: Math.max(...values) },
    ]),
  );
}

/** Step → its place on the axis: the step itself, or the sum of a metric over the steps so far. */
function placesOf(lines: readonly MetricsLine[], axis: Axis): Map<number, number> {
  const metric = { step: '', time: 'step_time', tokens: 'generated_tokens', episodes: 'episodes' }[axis];
  const added = new Map<number, number>();
  for (const { step, metrics } of lines) {
    const value = metrics[metric];
    added.set(step, (added.get(step) ?? 0) + (typeof value === 'number' ? value : 0));
  }
  if (axis === 'step') return new Map([...added.keys()].map((step) => [step, step]));
  let sum = 0;
  const steps = [...added].sort(([a], [b]) => a - b);
  return new Map(
    steps.map(([step, value]) => {
      sum += value / (axis === 'time' ? 60 : 1);
      return [step, sum];
    }),
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
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

/** The values of a chart as a table: the places of the axis first. */
export function csvOf({ places, curves }: ChartData, axis: Axis): string {
  const heads = curves.flatMap(({ label, band }) =>
    band ? [label, `${label} (least)`, `${label} (greatest)`] : [label],
  );
  const columns = curves.flatMap(({ values, band }) => (band ? [values, band.low, band.high] : [values]));
  const lines = places.map((place, at) => [place, ...columns.map((column) => column[at] ?? '')]);
  return csvText([[axes[axis], ...heads], ...lines]);
}
