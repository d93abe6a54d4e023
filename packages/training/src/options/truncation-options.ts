/** Which tokens may be sampled: options of rollouts and of evaluations. */
import type { OptionsOf } from '@toolenv/core/schemas';

const properties = {
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
} as const;

export type TruncationOptions = OptionsOf<{ properties: typeof properties }>;

/**
 * A truncation does not touch log-probabilities: policies report those of the whole distribution, and learners compute the
 * same, so that the ratio of an unchanged policy is 1.
 */
export const truncationOptions: typeof properties = properties;
