/** costCharts: time and memory of a step beside each other, in a row for each thing that grows. */
import { type SvgChartOptions, svgCharts } from '@toolenv/training/reports';

/** What grows. */
export const labels = {
  context: 'tokens of a row, 4,096 tokens a step',
  group: 'answers to one prompt',
  parameters: 'million parameters',
  episodes: 'episodes of a step of GRPO',
  tools: 'tools of a step of GRPO',
};
export type Axis = keyof typeof labels;

/** Seconds of a step, and the peak memory of each process in bytes. */
export interface CostPoint {
  name: 'cost';
  size: string;
  axis: Axis;
  value: number | string;
  seconds: { ours: number; peer: number | null };
  peakMemory: { ours: number; peer: number | null };
  otherWork: number;
  threads: number;
  rounds: number;
  versions: Record<string, string>;
}

export function costCharts(points: readonly CostPoint[]): string {
  const charts = (Object.keys(labels) as Axis[]).flatMap((axis) => {
    const own = points.filter((point) => point.axis === axis);
    if (own.length === 0) return [];
    const chart = (
      title: string,
      valueLabel: string,
      of: (point: CostPoint) => CostPoint['seconds'],
    ): SvgChartOptions => ({
      ...{ title: `${title} by ${labels[axis]}`, valueLabel, stepLabel: labels[axis] },
      curves: (['ours', 'peer'] as const).flatMap((side) => {
        const points = own.flatMap((point) => {
          const value = of(point)[side];
          return value === null ? [] : [[Number.parseFloat(`${point.value}`), value] as const];
        });
        const name = side === 'ours' ? 'toolenv' : ofGrpo.has(axis) ? 'TRL' : 'PyTorch';
        return points.length > 0 ? [{ name, points }] : [];
      }),
    });
    return [
      chart('Time', 'seconds of a step', ({ seconds }) => seconds),
      chart('Memory', 'peak, GB', ({ peakMemory: { ours, peer } }) => ({
        ours: ours / 1e9,
        peer: peer === null ? null : peer / 1e9,
      })),
    ];
  });
  return svgCharts('What a step costs', charts);
}

const ofGrpo: ReadonlySet<Axis> = new Set<Axis>(['episodes', 'tools']);
