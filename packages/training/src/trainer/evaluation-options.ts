/** The options of an evaluation: the defaults of `evaluate` and the flags of the command line. */
import type { OptionsOf } from '@toolenv/core/schemas';

/**
 * A truncation (`topP`, `topK`, `minP`) does not touch log-probabilities: policies report those of the whole distribution, and
 * learners compute the same, so that the ratio of an unchanged policy is 1.
 */
export const episodeOptions = {
  topP: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 1,
    default: 1,
    description: 'sample among the likeliest tokens with this share of the probability',
  },
  topK: { type: 'integer', minimum: 1, description: 'sample among this many likeliest tokens' },
  minP: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 0,
    description: "sample among tokens at least this probable, as a share of the likeliest one's probability",
  },
  maxTokens: { type: 'integer', minimum: 1, default: 256, description: 'most tokens in one turn' },
  deadline: {
    type: 'integer',
    minimum: 1,
    default: 600_000,
    description: 'time limit of one episode in milliseconds',
  },
  onDeadline: {
    enum: ['abort', 'truncate'],
    default: 'abort',
    description:
      'what becomes of an episode that takes longer: abort leaves it without a score, because the time depends on the machine; truncate scores it',
  },
  onBug: {
    enum: ['stop', 'abort-episode'],
    default: 'stop',
    description: 'what a bug in the environment or the policy ends: the run, or only the episode',
  },
  onImages: {
    enum: ['placeholder', 'refuse'],
    default: 'placeholder',
    description:
      'what a policy gets that reads no images: placeholder names them in brackets, refuse stops the run',
  },
  maxAborted: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 0.2,
    mayChange: true,
    description: 'share of the last 64 episodes that may be aborted before the run stops',
  },
} as const;

export type EpisodeOptions = OptionsOf<{ properties: typeof episodeOptions }>;

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

const own = {
  split: { enum: ['train', 'validation', 'test'], default: 'train', description: 'split to play' },
  temperature: { type: 'number', minimum: 0, default: 1, description: 'sampling temperature; 0: greedy' },
  lease: {
    type: 'integer',
    minimum: 1,
    default: 60_000,
    milliseconds: true,
    description: "time without a heartbeat after which other workers take over a worker's groups",
  },
  drain: {
    type: 'integer',
    minimum: 0,
    default: 25_000,
    milliseconds: true,
    description: 'time for episodes to end after SIGTERM or Ctrl-C',
  },
} as const;

const { passScore: _, ...shared } = evaluationOptions.properties;
type Properties = Omit<(typeof evaluationOptions)['properties'], 'passScore' | keyof typeof own> & typeof own;

/** JSON Schema of the options, with defaults. */
export const rolloutOptions: { readonly type: 'object'; readonly properties: Properties } = {
  type: 'object',
  properties: { ...shared, ...own },
};
