/** Which charts the page draws: a few curves of one unit each, in the order in which a person asks. */
import type { MetricsLine } from '@toolenv/training';

export interface CurveSpec {
  type: MetricsLine['type'];
  metric: string;
  label: string;
}

export interface ChartSpec {
  title: string;
  unit: string;
  curves: readonly CurveSpec[];
}

type Short = readonly [metric: string, label: string];

const rollout = (...curves: Short[]) =>
  curves.map(([metric, label]) => ({ type: 'rollout' as const, metric, label }));
const update = (...curves: Short[]) =>
  curves.map(([metric, label]) => ({ type: 'update' as const, metric, label }));

/** The charts for these metrics. A curve without values is left out, as is a chart without curves. */
export function chartSpecs(lines: readonly MetricsLine[]): ChartSpec[] {
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
  const all: ChartSpec[] = [
    {
      title: 'Reward',
      unit: 'mean of a step',
      curves: [...rollout(['reward', 'reward']), ...names('rollout', component)],
    },
    {
      title: 'Validation',
      unit: 'mean',
      curves: [
        { type: 'evaluation', metric: 'reward', label: 'reward' },
        ...names('evaluation', component),
        ...names('evaluation', /^(pass@\d+)$/),
      ],
    },
    { title: 'Loss', unit: '', curves: update(['loss', 'loss'], ['critic/vf_loss', 'critic']) },
    { title: 'Entropy', unit: 'nats per token', curves: update(['entropy', 'entropy']) },
    {
      title: 'KL divergence',
      unit: 'nats per token',
      curves: update(['kl', 'to the start'], ['actor/ppo_kl', 'to the sampler']),
    },
    {
      title: 'Clipped tokens',
      unit: 'share',
      curves: update(
        ['clip_ratio/low_mean', 'below the bound'],
        ['clip_ratio/high_mean', 'above the bound'],
        ['clip_ratio/region_mean', 'beyond a bound that matters'],
      ),
    },
    {
      title: 'Gradient norm',
      unit: '',
      curves: update(['grad_norm', 'policy'], ['critic/grad_norm', 'critic']),
    },
    {
      title: 'Outcomes',
      unit: 'share of episodes',
      curves: [
        ...names('rollout', /^truncated\/(.+)$/).map((curve) => ({
          ...curve,
          label: `truncated: ${curve.label}`,
        })),
        ...rollout(
          ['response/aborted_ratio', 'aborted'],
          ['frac_reward_zero_std', 'groups without variance'],
        ),
      ],
    },
    { title: 'Mistakes', unit: 'share of calls', curves: names('rollout', /^mistakes\/(.+)$/) },
    {
      title: 'Calls and turns',
      unit: 'per episode',
      curves: rollout(['tools/call_frequency', 'calls'], ['num_turns/mean', 'turns']),
    },
    {
      title: 'Length',
      unit: 'tokens',
      curves: rollout(
        ['completions/mean_length', 'mean of an episode'],
        ['completions/max_length', 'longest'],
      ),
    },
    {
      title: 'Speed',
      unit: 'tokens per second',
      curves: [
        ...rollout(['tokens_per_second/generation', 'generation']),
        ...update(['tokens_per_second/learning', 'learning']),
      ],
    },
    {
      title: 'Time of a step',
      unit: 'seconds',
      curves: [
        ...rollout(['time/generation', 'generation'], ['time/environment', 'environment']),
        ...update(['time/update', 'update']),
      ],
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
  return specs.flatMap(({ title, unit, curves }) =>
    curves.map((curve) => ({
      title: curves.length === 1 ? title : `${title}: ${curve.label}`,
      unit,
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
        title: `${metric}${type === 'evaluation' ? ' (validation)' : ''}`,
        unit: '',
        curves: [{ type, metric, label: metric }],
      };
    });
}
