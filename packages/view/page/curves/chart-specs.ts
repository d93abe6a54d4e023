/** Which charts the page draws: a few curves of one unit each, in the order in which a person asks. */
import type { RewardSpec } from '@toolenv/core';
import type { MetricsLine } from '@toolenv/training';

export interface CurveSpec {
  type: MetricsLine['type'];
  metric: string;
  label: string;
}

export const sections = ['Reward', 'Validation', 'Policy', 'Episodes', 'Speed', 'Other metrics'] as const;

export interface ChartSpec {
  section: (typeof sections)[number];
  /** Shown on the overview too. */
  isFirst?: boolean;
  title: string;
  unit: string;
  curves: readonly CurveSpec[];
}

type Short = readonly [metric: string, label: string];

const rollout = (...curves: Short[]) =>
  curves.map(([metric, label]) => ({ type: 'rollout' as const, metric, label }));
const update = (...curves: Short[]) =>
  curves.map(([metric, label]) => ({ type: 'update' as const, metric, label }));

/**
 * The charts for these metrics. A curve without values is left out, as is a chart without curves.
 * @param rewardSpec Components without a weight, from which nothing is learned, get charts of their own.
 */
export function chartSpecs(lines: readonly MetricsLine[], rewardSpec: RewardSpec = {}): ChartSpec[] {
  const known = new Set(
    lines.flatMap(({ type, metrics }) => Object.keys(metrics).map((name) => `${type} ${name}`)),
  );
  const names = (type: MetricsLine['type'], pattern: RegExp): CurveSpec[] =>
    [...known].flatMap((key) => {
      const [of = '', metric = ''] = key.split(' ');
      const label = of === type ? pattern.exec(metric)?.[1] : undefined;
      return label === undefined ? [] : [{ type, metric, label }];
    });
  const component = /^rewards\/([^/]+)\/mean$/;
  const isLarge = ({ type, metric }: CurveSpec) =>
    lines.some((line) => line.type === type && Math.abs(line.metrics[metric] ?? 0) > 1);
  const isTrained = ({ label }: CurveSpec) => Object(rewardSpec[label] ?? { weight: 1 }).weight !== 0;
  /** A component that counts something would press the others to the foot of a shared chart. */
  const shares = (type: MetricsLine['type']) =>
    names(type, component).filter((curve) => !isLarge(curve) && isTrained(curve));
  const others = (section: 'Reward' | 'Validation', type: MetricsLine['type'], unit: string): ChartSpec[] => {
    const components = names(type, component);
    const untrained = components.filter((curve) => !isLarge(curve) && !isTrained(curve));
    const counts = components.filter(isLarge).map((curve) => ({
      section,
      title: `${section}: ${curve.label}`,
      unit: isTrained(curve) ? unit : `${unit}, not trained`,
      curves: [curve],
    }));
    return [
      { section, title: `${section}, not trained`, unit: `${unit}, weight 0`, curves: untrained },
      ...counts,
    ];
  };
  /** Without those that are always 0. */
  const moving = (curves: readonly CurveSpec[]) =>
    curves.filter(({ type, metric }) => lines.some((line) => line.type === type && line.metrics[metric]));
  const all: ChartSpec[] = [
    {
      section: 'Reward',
      isFirst: true,
      title: 'Reward',
      unit: 'mean of a step',
      curves: [...rollout(['reward', 'reward']), ...shares('rollout')],
    },
    ...others('Reward', 'rollout', 'mean of a step'),
    {
      section: 'Validation',
      isFirst: true,
      title: 'Validation',
      unit: 'mean',
      curves: [
        { type: 'evaluation', metric: 'reward', label: 'reward' },
        ...shares('evaluation'),
        ...names('evaluation', /^(pass@\d+)$/),
      ],
    },
    ...others('Validation', 'evaluation', 'mean'),
    {
      section: 'Policy',
      isFirst: !lines.some(({ type }) => type === 'rollout'),
      title: 'Loss',
      unit: '',
      curves: update(['loss', 'loss'], ['critic/vf_loss', 'critic']),
    },
    { section: 'Policy', title: 'Entropy', unit: 'nats per token', curves: update(['entropy', 'entropy']) },
    {
      section: 'Policy',
      title: 'KL divergence',
      unit: 'nats per token',
      // One optimizer step per rollout moves the policy only after the metric was taken, so that it is 0.
      curves: [...update(['kl', 'to the start']), ...moving(update(['actor/ppo_kl', 'within the step']))],
    },
    {
      section: 'Policy',
      title: 'Clipped tokens',
      unit: 'share',
      curves: update(
        ['clip_ratio/low_mean', 'below the bound'],
        ['clip_ratio/high_mean', 'above the bound'],
        ['clip_ratio/region_mean', 'beyond a bound that matters'],
      ),
    },
    {
      section: 'Policy',
      title: 'Gradient norm',
      unit: '',
      curves: update(['grad_norm', 'policy'], ['critic/grad_norm', 'critic']),
    },
    {
      section: 'Episodes',
      isFirst: true,
      title: 'Outcomes',
      unit: 'share of episodes',
      curves: [
        ...moving(names('rollout', /^truncated\/(.+)$/)).map((curve) => ({
          ...curve,
          label: `truncated: ${curve.label}`,
        })),
        ...moving(rollout(['response/aborted_ratio', 'aborted'])),
        ...rollout(['frac_reward_zero_std', 'groups without variance']),
      ],
    },
    {
      section: 'Episodes',
      title: 'Mistakes',
      unit: 'share of calls',
      curves: names('rollout', /^mistakes\/(.+)$/),
    },
    {
      section: 'Episodes',
      title: 'Calls and turns',
      unit: 'per episode',
      curves: rollout(['tools/call_frequency', 'calls'], ['num_turns/mean', 'turns']),
    },
    {
      section: 'Episodes',
      title: 'Length',
      unit: 'tokens',
      curves: rollout(
        ['completions/mean_length', 'mean of an episode'],
        ['completions/max_length', 'longest'],
      ),
    },
    {
      section: 'Speed',
      title: 'Speed',
      unit: 'tokens per second',
      curves: [
        ...rollout(['tokens_per_second/generation', 'generation']),
        ...update(['tokens_per_second/learning', 'learning']),
      ],
    },
    {
      section: 'Speed',
      title: 'Time of a step',
      unit: 'seconds',
      curves: [
        ...rollout(['time/generation', 'generation'], ['time/environment', 'environment']),
        ...update(['time/update', 'update']),
      ],
    },
    {
      section: 'Speed',
      title: 'Memory',
      unit: 'gigabytes of the process',
      curves: update(['memory/process_gb', 'memory']),
    },
  ];
  return all
    .map((chart) => ({
      ...chart,
      curves: chart.curves.filter(({ type, metric }) => known.has(`${type} ${metric}`)),
    }))
    .filter(({ curves }) => curves.length > 0);
}

/** A chart for each curve, so that several runs can be told apart. */
export function oneCurveEach(specs: readonly ChartSpec[]): ChartSpec[] {
  return specs.flatMap(({ title, curves, ...rest }) =>
    curves.map((curve) => ({
      ...rest,
      // The label of a curve is then the name of its run.
      title: title.toLowerCase().endsWith(curve.label.toLowerCase()) ? title : `${title}: ${curve.label}`,
      curves: [curve],
    })),
  );
}

/** All metrics that no chart of `specs` shows, one chart each. */
export function otherSpecs(lines: readonly MetricsLine[], specs: readonly ChartSpec[]): ChartSpec[] {
  const shown = new Set(specs.flatMap(({ curves }) => curves.map(({ type, metric }) => `${type} ${metric}`)));
  const all = new Set(
    lines.flatMap(({ type, metrics }) => Object.keys(metrics).map((name) => `${type} ${name}`)),
  );
  return [...all]
    .filter((key) => !shown.has(key))
    .sort()
    .map((key) => {
      const [type, metric] = key.split(' ') as [MetricsLine['type'], string];
      return {
        section: 'Other metrics' as const,
        title: `${metric}${type === 'evaluation' ? ' (validation)' : ''}`,
        unit: '',
        curves: [{ type, metric, label: metric }],
      };
    });
}
