/**
 * The options of the run loop: every trainer has them beside its own.
 *
 * `mayChange` marks the options that a resumed run may change, because no step depends on them: how many steps there are
 * (unless a schedule depends on it), when the run evaluates and saves, and when it gives up. Every other option is part of the run's identity.
 */
import type { OptionsOf } from '@toolenv/core/schemas';
import { type EpisodeOptions, episodeOptions } from './episode-options.ts';
import { hasFixedSchedule, type OptimizerOptions, optimizerOptions } from './optimizer-options.ts';

const properties = {
  steps: { type: 'integer', minimum: 1, default: 100, description: 'updates' },
  tasksPerStep: { type: 'integer', minimum: 1, default: 16, description: 'tasks of one rollout' },
  groupSize: { type: 'integer', minimum: 1, default: 8, description: 'episodes of each task' },
  maxStaleness: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description:
      'updates that a rollout may be behind; as many rollouts run ahead, so that slow tools do not hold up learning',
  },
  temperature: { type: 'number', minimum: 1e-3, default: 1, description: 'of sampling during rollouts' },
  shuffleRewards: {
    type: 'boolean',
    default: false,
    description: 'control experiment: permute the rewards of each rollout, to show that learning needs them',
  },
  evaluateEvery: {
    type: 'integer',
    minimum: 0,
    default: 0,
    mayChange: true,
    description: 'steps between evaluations on the validation split; 0 is never',
  },
  evaluateFirst: {
    type: 'boolean',
    default: false,
    mayChange: true,
    description: 'evaluate before the first step too',
  },
  evaluationEpisodes: {
    type: 'integer',
    minimum: 1,
    default: 200,
    mayChange: true,
    description: 'tasks of one evaluation',
  },
  evaluationSamples: {
    type: 'integer',
    minimum: 1,
    default: 1,
    mayChange: true,
    description: 'episodes of each of these tasks; with more than one, an evaluation reports pass@k',
  },
  evaluationTemperature: {
    type: 'number',
    minimum: 0,
    default: 0,
    mayChange: true,
    description: 'of sampling in evaluations; 0 is greedy',
  },
  checkpointEvery: {
    type: 'integer',
    minimum: 0,
    default: 10,
    mayChange: true,
    description: 'steps between checkpoints; 0 is only at the end',
  },
  keepCheckpoints: {
    type: 'integer',
    minimum: 1,
    default: 3,
    mayChange: true,
    description: 'how many of the newest checkpoints are kept; the best is kept beside them',
  },
  bestMetric: {
    type: 'string',
    description:
      'metric of evaluations, as reward or rewards/em/mean, whose best checkpoint is kept and becomes the policy of the run',
  },
  bestMetricGoal: {
    enum: ['max', 'min'],
    default: 'max',
    description: 'whether more or less of it is better',
  },
  patience: {
    type: 'integer',
    minimum: 0,
    default: 0,
    mayChange: true,
    description: 'evaluations without a new best after which the run stops; 0 is never',
  },
} as const;

export type RunOptions = OptionsOf<{ properties: typeof properties }> & EpisodeOptions & OptimizerOptions;

/** The options of rollouts, which a trainer that learns from data does not have. */
export const rolloutOptions: readonly (keyof RunOptions)[] = [
  'tasksPerStep',
  'groupSize',
  'maxStaleness',
  'temperature',
  'topP',
  'topK',
  'minP',
  'shuffleRewards',
];

/** JSON Schemas of the options, by name. */
export const runOptions: Readonly<Record<keyof RunOptions, { readonly [keyword: string]: unknown }>> = {
  ...properties,
  steps: { ...properties.steps, mayChange: hasFixedSchedule },
  ...episodeOptions,
  ...optimizerOptions,
};
