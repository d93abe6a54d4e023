/** Curves over training steps, taken from a run's metrics; the charts of terminal and file draw them. */
import { headlineMetric, scoreLabel } from '../reports/primary-metric.ts';
import type { Curve } from '../reports/svg-chart.ts';
import type { MetricsLine } from './run-log.ts';

/** Curves that are read together. */
export interface CurveGroup {
  name: string;
  /** Of the value axis. */
  unit: string;
  curves: readonly Curve[];
}

type Source = readonly [type: MetricsLine['type'], metric: string, name: string];

/** What explains a reward, in the order in which one asks. All curves of a group have one unit. */
const diagnoses: readonly { name: string; unit: string; sources: readonly Source[] }[] = [
  {
    name: 'prompts',
    unit: 'mean score',
    sources: [['update', 'prompts/best', 'best texts on the Pareto tasks']],
  },
  {
    name: 'policy',
    unit: 'nats per token',
    sources: [
      ['update', 'entropy', 'entropy'],
      ['update', 'kl', 'KL to the start'],
    ],
  },
  {
    name: 'episodes',
    unit: 'share',
    sources: [
      ['rollout', 'frac_reward_zero_std', 'groups without variance'],
      ['rollout', 'tools/failure_frequency', 'failed calls'],
      ['rollout', 'completions/clipped_ratio', 'truncated'],
      ['rollout', 'response/aborted_ratio', 'aborted'],
    ],
  },
  {
    name: 'time',
    unit: 'seconds of a step',
    sources: [
      ['rollout', 'time/generation', 'generation'],
      ['rollout', 'time/environment', 'environment'],
      ['update', 'time/update', 'update'],
    ],
  },
];

/** Curves with different units, shown after the reward. */
const sizes: readonly Source[] = [
  ['update', 'loss', 'loss'],
  ['update', 'grad_norm', 'gradient norm'],
  ['rollout', 'num_turns/mean', 'turns'],
  ['rollout', 'tokens_per_turn/mean', 'tokens per turn'],
];

/** What a first look at a run needs: rewards, held-out scores, and what explains them. Shares that stay 0 are left out. */
export function curveGroups(lines: readonly MetricsLine[]): CurveGroup[] {
  const components = new Set(
    lines.flatMap(({ metrics }) =>
      Object.keys(metrics).flatMap((key) => /^rewards\/(.+)\/mean$/.exec(key)?.[1] ?? []),
    ),
  );
  const means = (type: MetricsLine['type'], prefix: string): Source[] => [
    [type, 'reward', `${prefix}reward`],
    ...[...components].map((name) => [type, `rewards/${name}/mean`, `${prefix}${scoreLabel(name)}`] as const),
  ];
  const groups = [
    {
      name: 'reward',
      unit: 'mean of a step',
      sources: [...means('rollout', ''), ...means('evaluation', 'validation ')],
    },
    { name: 'update and length', unit: '', sources: sizes },
    ...diagnoses,
  ];
  return groups
    .map(({ name, unit, sources }) => {
      const curves = sources.map((source) => curveOf(lines, source));
      return { name, unit, curves: curves.filter((curve) => isWorthSeeing(curve, unit)) };
    })
    .filter(({ curves }) => curves.length > 0);
}

/** What the file of curves shows: reward and score with the held-out score, then the groups that explain them. */
export function chartGroups(lines: readonly MetricsLine[]): CurveGroup[] {
  const names = diagnoses.map(({ name }) => name);
  const validation = headlineSource(lines, 'evaluation', 'validation ');
  const rewards = [...trainingCurves(lines), ...validation.map((source) => curveOf(lines, source))];
  const reward = { name: 'reward', unit: 'mean of a step', curves: rewards };
  return rewards.length === 0
    ? []
    : [reward, ...curveGroups(lines).filter(({ name }) => names.includes(name))];
}

/**
 * The mean reward of each step's episodes, and the mean of the score that says which episodes were right. Without rollouts,
 * the loss.
 */
export function trainingCurves(lines: readonly MetricsLine[]): Curve[] {
  const sources: Source[] = lines.some(({ type }) => type === 'rollout')
    ? [['rollout', 'reward', 'reward'], ...headlineSource(lines, 'rollout', '')]
    : [['update', 'loss', 'loss']];
  return sources.map((source) => curveOf(lines, source)).filter(({ points }) => points.length > 0);
}

/** The score that says which episodes were right; none if there is no such score. */
function headlineSource(lines: readonly MetricsLine[], type: MetricsLine['type'], prefix: string): Source[] {
  const name = headlineMetric(lines.find((line) => line.type === type)?.metrics ?? {})?.[0];
  return name === undefined ? [] : [[type, `rewards/${name}/mean`, `${prefix}${scoreLabel(name)}`]];
}

function curveOf(lines: readonly MetricsLine[], [type, metric, name]: Source): Curve {
  const points = lines.flatMap((line) => {
    const value = line.type === type ? line.metrics[metric] : undefined;
    // A file may have a null or 1e309, which no axis has a place for.
    return Number.isFinite(value) ? [[line.step, value!] as const] : [];
  });
  return { name, points };
}

function isWorthSeeing({ points }: Curve, unit: string): boolean {
  return points.length > 0 && (unit !== 'share' || points.some(([, value]) => value !== 0));
}
