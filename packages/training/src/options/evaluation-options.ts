/** The options of an evaluation: `evaluate` takes its defaults from here, and the command line its flags. */
import type { OptionsOf } from '@toolenv/core/schemas';
import { type TruncationOptions, truncationOptions } from './truncation-options.ts';

const properties = {
  split: { enum: ['train', 'validation', 'test'], default: 'test', description: 'tasks to play' },
  count: {
    type: 'integer',
    minimum: 1,
    default: 200,
    description: 'tasks; fewer if the split has fewer tasks',
  },
  samples: { type: 'integer', minimum: 1, default: 1, description: 'episodes of each task' },
  passScore: {
    type: 'number',
    default: 1,
    description: 'from which score on an episode passes, for pass@k',
  },
  concurrency: { type: 'integer', minimum: 1, default: 128, description: 'episodes at a time' },
  temperature: { type: 'number', minimum: 0, default: 0, description: 'of sampling; 0 is greedy' },
  maxTokens: { type: 'integer', minimum: 1, default: 256, description: 'tokens of one turn at most' },
  deadline: {
    type: 'integer',
    minimum: 1,
    default: 600_000,
    description: 'milliseconds of one episode at most',
  },
  retries: {
    type: 'integer',
    minimum: 0,
    default: 1,
    description: 'times that an episode is tried again after a fault of the infrastructure',
  },
  onBug: {
    enum: ['stop', 'abort-episode'],
    default: 'stop',
    description: 'what a bug of the environment or the policy ends: the run, or only the episode',
  },
  maxAborted: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 0.2,
    description: 'share of the last 64 episodes that may be aborted before the run stops',
  },
  seed: { type: 'integer', minimum: 0, default: 1, description: 'of the environment and of sampling' },
} as const;

export type EvaluationOptions = OptionsOf<{ properties: typeof properties }> & TruncationOptions;

/** JSON Schema of {@link EvaluationOptions}, with defaults. */
export const evaluationOptions: {
  readonly type: 'object';
  readonly properties: typeof properties & typeof truncationOptions;
} = { type: 'object', properties: { ...properties, ...truncationOptions } };
