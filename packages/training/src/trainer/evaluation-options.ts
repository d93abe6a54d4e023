/** The options of an evaluation: the defaults of `evaluate` and the flags of the command line. */
import type { OptionsOf } from '@toolenv/core/schemas';
import { type EpisodeOptions, episodeOptions } from './episode-options.ts';

const properties = {
  split: { enum: ['train', 'validation', 'test'], default: 'test', description: 'split to play' },
  count: {
    type: 'integer',
    minimum: 1,
    default: 200,
    description: 'tasks; fewer if the split has fewer tasks',
  },
  samples: { type: 'integer', minimum: 1, default: 1, description: 'episodes per task' },
  passScore: {
    type: 'number',
    default: 1,
    description: 'lowest score of an episode that passes, for pass@k',
  },
  concurrency: { type: 'integer', minimum: 1, default: 128, description: 'episodes played at the same time' },
  temperature: { type: 'number', minimum: 0, default: 0, description: 'sampling temperature; 0: greedy' },
  constrainCalls: {
    type: 'boolean',
    default: false,
    description: 'draw only tokens with which tool calls parse and fit the schemas of their tools',
  },
  retries: {
    type: 'integer',
    minimum: 0,
    default: 1,
    description: 'how many times to retry an episode after an infrastructure fault',
  },
  seed: {
    type: 'integer',
    minimum: 0,
    default: 1,
    description: 'random seed of the environment and of sampling',
  },
} as const;

export type EvaluationOptions = OptionsOf<{ properties: typeof properties }> & EpisodeOptions;

/** JSON Schema of {@link EvaluationOptions}, with defaults. */
export const evaluationOptions: {
  readonly type: 'object';
  readonly properties: typeof properties & typeof episodeOptions;
} = { type: 'object', properties: { ...properties, ...episodeOptions } };
