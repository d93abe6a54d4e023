/**
 * The options of the run loop: every trainer has them in addition to its own.
 *
 * `mayChange` marks the options that a resumed run may change, because no step depends on them: how many steps there are
 * (unless a schedule depends on it), when the run evaluates and saves, and when it gives up. Every other option is part of the run's identity.
 */
import type { Scorer, Trainer } from '@toolenv/core/plugins';
import type { OptionsOf } from '@toolenv/core/schemas';
import { type EpisodeOptions, episodeOptions } from './evaluation-options.ts';
import { hasFixedSchedule, type OptimizerOptions, optimizerOptions } from './optimizer-options.ts';

const properties = {
  steps: { type: 'integer', minimum: 1, default: 100, description: 'updates' },
  tasksPerStep: { type: 'integer', minimum: 1, default: 16, description: 'tasks per rollout' },
  groupSize: { type: 'integer', minimum: 1, default: 8, description: 'episodes per task' },
  maxStaleness: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description:
      'how many updates old a rollout may be; that many rollouts run ahead, so slow tools do not delay learning',
  },
  temperature: { type: 'number', minimum: 1e-3, default: 1, description: 'sampling temperature of rollouts' },
  shuffleRewards: {
    type: 'boolean',
    default: false,
    description: 'control experiment: permute the rewards of each rollout, to show that learning needs them',
  },
  scorer: {
    enum: ['none'],
    default: 'none',
    part: 'scorers',
    description:
      'compares the episodes of each group after they end: none, or the reference or file of a scorer',
  },
  scorerWeight: {
    type: 'number',
    default: 1,
    description: 'weight of the score of the scorer in the reward',
  },
  environmentWeight: {
    type: 'number',
    minimum: 0,
    default: 1,
    description:
      "with a scorer: factor of the environment's own rewards; 0: the scorer alone is learned from",
  },
  evaluateEvery: {
    type: 'integer',
    minimum: 0,
    default: 0,
    mayChange: true,
    description: 'steps between evaluations on the validation split; 0: never',
  },
  evaluateFirst: {
    type: 'boolean',
    default: false,
    mayChange: true,
    description: 'also evaluate before the first step',
  },
  evaluationEpisodes: {
    type: 'integer',
    minimum: 1,
    default: 200,
    mayChange: true,
    description: 'tasks per evaluation',
  },
  evaluationSamples: {
    type: 'integer',
    minimum: 1,
    default: 1,
    mayChange: true,
    description: 'episodes per task of an evaluation; with more than one, an evaluation reports pass@k',
  },
  evaluationTemperature: {
    type: 'number',
    minimum: 0,
    default: 0,
    mayChange: true,
    description: 'sampling temperature of evaluations; 0: greedy',
  },
  checkpointEvery: {
    type: 'integer',
    minimum: 0,
    default: 10,
    mayChange: true,
    description: 'steps between checkpoints; 0: only at the end',
  },
  keepCheckpoints: {
    type: 'integer',
    minimum: 1,
    default: 3,
    mayChange: true,
    description: 'how many of the newest checkpoints to keep; the best is always kept',
  },
  bestMetric: {
    type: 'string',
    description:
      'metric of evaluations, such as reward or rewards/em/mean; its best checkpoint is kept and becomes the policy of the run',
  },
  bestMetricGoal: {
    enum: ['max', 'min'],
    default: 'max',
    description: 'whether a greater or a smaller bestMetric is better',
  },
  patience: {
    type: 'integer',
    minimum: 0,
    default: 0,
    mayChange: true,
    description: 'stop the run after this many evaluations without a new best; 0: never',
  },
} as const;

type LoopOptions = OptionsOf<{ properties: typeof properties }>;

export type RunOptions = Omit<LoopOptions, 'scorer'> & {
  /** A name, a reference, or a scorer. */
  scorer: string | Scorer<never>;
} & EpisodeOptions &
  OptimizerOptions;

/** The options of rollouts, which a trainer that learns from data does not have. */
const rolloutOptions: readonly (keyof RunOptions)[] = [
  'tasksPerStep',
  'groupSize',
  'maxStaleness',
  'temperature',
  'topP',
  'topK',
  'minP',
  'shuffleRewards',
  'scorer',
  'scorerWeight',
  'environmentWeight',
];

/** The options that trainers without groups do not have, because nothing learns tokens. */
const tokenOptions: readonly (keyof RunOptions)[] = [
  'groupSize',
  'maxStaleness',
  'shuffleRewards',
  'scorer',
  'scorerWeight',
  'environmentWeight',
  ...(Object.keys(optimizerOptions) as (keyof OptimizerOptions)[]),
];

/** The options of the loop that a trainer leaves out. */
export function optionsLeftOut(
  trainer: Pick<Trainer, 'learnsFrom' | 'improves'>,
): readonly (keyof RunOptions)[] {
  // The steps of a prompt trainer have no fixed number of tasks.
  if (trainer.improves === 'prompts') return ['tasksPerStep', ...tokenOptions];
  if (trainer.learnsFrom === 'perturbations') return tokenOptions;
  return trainer.learnsFrom === 'data' ? rolloutOptions : [];
}

/** JSON Schemas of the options, by name. */
export const runOptions: Readonly<Record<keyof RunOptions, { readonly [keyword: string]: unknown }>> = {
  ...properties,
  steps: { ...properties.steps, mayChange: hasFixedSchedule },
  ...episodeOptions,
  ...optimizerOptions,
};
