/** How an episode is sampled and limited: options of rollouts and of evaluations. */
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
