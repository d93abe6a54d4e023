/** Updates that are too large or too small. */
import type { DiagnosisRule, Evidence, Finding } from './diagnosis.ts';
import { finding, number, percent } from './finding.ts';
import type { RunHistory } from './run-history.ts';
import { before, from, lasting, meanOf, type Series } from './series.ts';

/** What rises when updates break the policy; rollouts have it even if nothing is learned any more. */
const signs: readonly {
  type: 'rollout' | 'update';
  metric: string;
  /** How the sentence goes on. */
  says(value: number): string;
  /** The bound, given the mean before the fall. */
  bound(before: number): number;
}[] = [
  {
    type: 'update',
    metric: 'kl',
    says: (value) => `the KL to the start reaches ${number(value)} nats per token`,
    bound: () => 1,
  },
  {
    type: 'rollout',
    metric: 'truncated/max_tokens',
    says: (value) => `${percent(value)} of the episodes are cut at maxTokens`,
    bound: (value) => value + 0.4,
  },
  {
    type: 'rollout',
    metric: 'rollout_corr/rollout_log_ppl',
    says: (value) => `the policy is unsure of its own tokens (${number(value)} nats)`,
    bound: (value) => 2 * value + 0.3,
  },
  {
    type: 'rollout',
    metric: 'tools/failure_frequency',
    says: (value) => `${percent(value)} of the tool calls fail`,
    bound: (value) => value + 0.4,
  },
  {
    type: 'update',
    metric: 'actor/ppo_kl',
    says: (value) => `a step moves the policy by ${number(value)} nats per token`,
    bound: () => 0.1,
  },
  {
    type: 'update',
    metric: 'clip_ratio/region_mean',
    says: (value) => `${percent(value)} of the tokens are clipped`,
    bound: () => 0.3,
  },
  {
    type: 'update',
    metric: 'grad_norm',
    says: (value) => `the gradient norm reaches ${number(value)}`,
    bound: (value) => Math.max(10, 10 * value),
  },
];

/** Steps that a fall must last. */
const minSteps = 3;
/** So far must the reward fall: to this share of its best. */
const fallenTo = 0.5;
/** Of the loss of a run without rollouts, relative to its first value. */
const lossRise = 1.5;

export const learningRateTooHigh: DiagnosisRule = {
  fault: 'updates break the policy',
  remedy: 'Begin again from a checkpoint before the fall, with a tenth of the learning rate.',
  page: 'recipes/kl-runs-off.md#after-the-fall',
  find(run) {
    const rewards = run.rollout('reward');
    if (rewards.length === 0) return risenLoss(run);
    const fall = fallOf(rewards);
    if (!fall) return undefined;
    const sign = signOf(run, fall.since);
    if (!sign) return undefined;
    const title = `From step ${fall.since} on, the reward is ${number(fall.after)}, after ${number(fall.best)}, and ${sign.says}${atRate(run)}.`;
    return finding({ since: fall.since, value: sign.value }, title, [sign.metric, sign.threshold], {});
  },
};

/** SFT and DPO have only a loss. */
function risenLoss(run: RunHistory): Finding | undefined {
  const losses = run.update('loss');
  const first = losses[0]?.[1] ?? Number.NaN;
  const threshold = first + (lossRise - 1) * Math.abs(first);
  const found = lasting(losses, (value) => value > threshold, minSteps);
  if (!found || found.since === losses[0]![0]) return undefined;
  const title = `From step ${found.since} on, the loss is ${number(found.value)}, after ${number(first)} in the first step${atRate(run)}.`;
  return finding(found, title, ['loss', threshold]);
}

const atRate = (run: RunHistory) => {
  const rate = Math.max(0, ...run.update('learning_rate').map(([, value]) => value));
  return rate > 0 ? `, at a learning rate of ${rate.toPrecision(1)}` : '';
};

/** Since when the reward is at most half of its best mean over three steps, or of the first step. */
function fallOf(rewards: Series): { since: number; best: number; after: number } | undefined {
  const floor = Math.min(0, ...rewards.map(([, value]) => value));
  let best = { value: rewards[0]![1], end: 0 };
  for (let end = 2; end < rewards.length; end++) {
    const value = meanOf(rewards.slice(end - 2, end + 1));
    if (value > best.value) best = { value, end };
  }
  if (best.value - floor < 0.02) return undefined;
  const threshold = floor + fallenTo * (best.value - floor);
  const found = lasting(rewards.slice(best.end + 1), (value) => value < threshold, minSteps);
  return found && { since: found.since, best: best.value, after: found.value };
}

type Sign = Evidence & { says: string };

/** The first sign whose mean from a step on is beyond its bound. KL is measured seldom, so its largest value counts. */
function signOf(run: RunHistory, since: number): Sign | undefined {
  for (const { type, metric, says, bound } of signs) {
    const series = type === 'rollout' ? run.rollout(metric) : run.update(metric);
    const after = from(series, since);
    if (after.length === 0) continue;
    const value = type === 'update' ? Math.max(...after.map(([, each]) => each)) : meanOf(after);
    const earlier = before(series, since);
    const threshold = bound(earlier.length > 0 ? meanOf(earlier) : 0);
    if (value >= threshold) return { metric, value, threshold, says: says(value) };
  }
  return undefined;
}

/** Nats per token: a policy that learns is beyond it after some steps. */
const minKl = 1e-5;
/** Of one step with several updates. */
const minRatio = 1e-4;
const minStep = 10;

export const learningRateTooLow: DiagnosisRule = {
  fault: 'updates hardly move the policy',
  remedy: 'Try a learning rate ten times as high for 20 steps.',
  page: 'guides/troubleshooting.md#a-learning-rate-that-does-not-fit',
  find(run) {
    const rewards = run.rollout('reward');
    const hasVariance =
      meanOf(run.rollout('frac_reward_zero_std')) < 0.8 || meanOf(run.rollout('reward_std')) > 0.01;
    if (rewards.length < minStep || !hasVariance || run.learns) return undefined;
    const moved = distanceOf(run);
    if (!moved || moved.value >= moved.threshold) return undefined;
    const [since] = rewards[0]!;
    const title = `After ${rewards.length} steps, ${moved.says}, although groups have variance${atRate(run)}.`;
    return finding({ since, value: moved.value }, title, [moved.metric, moved.threshold]);
  },
};

/** How far the policy has moved: from its start, or in a step with several updates. */
function distanceOf(run: RunHistory): Sign | undefined {
  const kl = run
    .update('kl')
    .filter(([step]) => step >= minStep)
    .at(-1)?.[1];
  if (kl !== undefined) {
    const says = `the policy is only ${number(Math.abs(kl))} nats per token from its start`;
    return { metric: 'kl', value: Math.abs(kl), threshold: minKl, says };
  }
  if ((run.option('epochs') ?? 1) * (run.option('miniBatches') ?? 1) < 2) return undefined;
  const spread = Math.max(...run.update('ratio/max').map(([, value]) => Math.abs(value - 1)));
  if (!Number.isFinite(spread)) return undefined;
  const says = `no token's ratio differs from 1 by more than ${number(spread)}`;
  return { metric: 'ratio/max', value: spread, threshold: minRatio, says };
}
