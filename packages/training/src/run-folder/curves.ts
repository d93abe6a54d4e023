/** Curves over training steps, taken from a run's metrics; both charts draw them. */
import { headlineMetric, scoreLabel } from '../metrics/headline-score.ts';
import type { MetricsLine } from './run-log.ts';

export interface Curve {
  name: string;
  points: readonly (readonly [step: number, value: number])[];
}

/** All that a look at a run needs: the reward, its components, the loss, and the held-out scores. */
export function runCurves(lines: readonly MetricsLine[]): Curve[] {
  const of = (type: MetricsLine['type'], metric: string, name: string): Curve => ({
    name,
    points: lines.flatMap((line) => {
      const value = line.type === type ? line.metrics[metric] : undefined;
      return value === undefined ? [] : [[line.step, value] as const];
    }),
  });
  const components = new Set(
    lines.flatMap(({ metrics }) =>
      Object.keys(metrics).flatMap((key) => /^rewards\/(.+)\/mean$/.exec(key)?.[1] ?? []),
    ),
  );
  const means = (type: MetricsLine['type'], prefix: string) => [
    of(type, 'reward', `${prefix}reward`),
    ...[...components].map((name) => of(type, `rewards/${name}/mean`, `${prefix}${scoreLabel(name)}`)),
  ];
  const curves = [
    ...means('rollout', ''),
    of('update', 'loss', 'loss'),
    ...means('evaluation', 'validation '),
  ];
  return curves.filter(({ points }) => points.length > 0);
}

/**
 * The mean reward of each step's episodes, and the mean of the score that says which episodes were right. Without rollouts,
 * the loss.
 */
export function trainingCurves(lines: readonly MetricsLine[]): Curve[] {
  const rollouts = lines.filter(({ type }) => type === 'rollout');
  if (rollouts.length === 0) return runCurves(lines).filter(({ name }) => name === 'loss');
  const name = headlineMetric(rollouts[0]?.metrics ?? {})?.[0];
  const curve = (label: string, metric: string): Curve => ({
    name: label,
    points: rollouts.flatMap(({ step, metrics }) => {
      const value = metrics[metric];
      return value === undefined ? [] : [[step, value] as const];
    }),
  });
  const curves = [curve('reward', 'reward')];
  if (name !== undefined) curves.push(curve(scoreLabel(name), `rewards/${name}/mean`));
  return curves.filter(({ points }) => points.length > 0);
}
