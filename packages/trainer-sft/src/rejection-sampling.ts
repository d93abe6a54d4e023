/** Rejection sampling: best of n, then supervised learning on the best (RAFT, arXiv 2304.06767; STaR, arXiv 2203.14465). */
import { createRng, type JsonSchema, ToolEnvError, type Trajectory } from '@toolenv/core';
import type { OptionsOf } from '@toolenv/core/schemas';
import {
  type AlgorithmContext,
  type ConfigurableTrainer,
  defineTrainer,
  emptyUpdate,
  groupBy,
  meanMetrics,
  miniBatchesOf,
  outcomeScore,
  type RolloutBatch,
  type RunOptions,
} from '@toolenv/training';
import { type OptimizerSettings, optimizerOptions } from './sft-options.ts';
import { learnRows } from './supervised-loss.ts';

const rejectionOptions = {
  keep: {
    type: 'integer',
    minimum: 1,
    default: 1,
    description: 'episodes per group to learn from: those with the highest scores',
  },
  threshold: {
    type: 'number',
    default: 0,
    description: 'learn only from episodes with a higher score',
  },
  judgedBy: {
    type: 'string',
    minLength: 1,
    description:
      'reward component that is the score of an episode, such as em (default: the weighted sum of the outcome rewards; process rewards only decide between equal scores)',
  },
  epochs: {
    type: 'integer',
    minimum: 1,
    default: 1,
    description: 'passes over the best episodes of a rollout',
  },
  miniBatches: {
    type: 'integer',
    minimum: 1,
    default: 1,
    description: 'optimizer steps per pass, each on a share of the best episodes',
  },
} as const;

export type RejectionOptions = OptionsOf<{ properties: typeof rejectionOptions }> & OptimizerSettings;

export const rejectionSampling: ConfigurableTrainer<RejectionOptions & RunOptions> = defineTrainer<
  JsonSchema,
  RejectionOptions
>({
  name: 'rejection-sampling',
  description: 'Plays several episodes of each task and learns from the best (RAFT, arXiv 2304.06767)',
  options: { properties: { ...rejectionOptions, ...optimizerOptions } },
  create(context) {
    refuseUnknownComponent(context);
    return { update: (batch) => update(batch, context) };
  },
});
export default rejectionSampling;

async function update(
  { seed, trajectories, rows }: RolloutBatch,
  context: AlgorithmContext<RejectionOptions>,
) {
  const { options } = context;
  const kept = new Set(bestOfGroups(trajectories, options, seed));
  const best = rows.filter(({ trajectory }) => kept.has(trajectory));
  const accepted = { accepted: kept.size / trajectories.length };
  if (best.length === 0) return { ...emptyUpdate, ...accepted };
  const updates = [];
  for (const part of miniBatchesOf([...best.keys()], options, seed)) {
    const batch = part.map((b) => best[b]!);
    updates.push(await learnRows(context, batch));
  }
  const learned = best.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return { ...meanMetrics(updates), learned_tokens: learned, ...accepted };
}

/**
 * The `keep` best episodes of each group with a score above the threshold. Of equal scores the greater reward comes first; equal
 * rewards are ordered at random.
 */
export function bestOfGroups(
  trajectories: readonly Trajectory[],
  { keep, threshold, judgedBy }: Pick<RejectionOptions, 'keep' | 'threshold' | 'judgedBy'>,
  seed: number,
): Trajectory[] {
  return [...groupBy(trajectories, (episode) => episode.group)].flatMap(([group, episodes]) => {
    const order = createRng(seed, 'equal rewards', group).shuffle(episodes);
    const scored = order.map((episode) => ({ episode, score: outcomeScore(episode, judgedBy) }));
    const good = scored.filter(({ score }) => score !== null && score > threshold);
    good.sort((a, b) => b.score! - a.score! || b.episode.reward! - a.episode.reward!);
    return good.slice(0, keep).map(({ episode }) => episode);
  });
}

/** @throws ToolEnvError `usage.bad_option` */
function refuseUnknownComponent({ options, run }: AlgorithmContext<RejectionOptions>): void {
  const { judgedBy } = options;
  const components = Object.keys(run.env?.episode().spec.rewards ?? {});
  if (judgedBy === undefined || components.includes(judgedBy)) return;
  const message = `rejection-sampling: option "judgedBy": the environment has no reward component "${judgedBy}". It has: ${components.join(', ')}.`;
  throw new ToolEnvError('usage.bad_option', message);
}
