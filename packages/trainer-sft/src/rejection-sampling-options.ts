/** The options of rejection sampling, in addition to those of the run loop and the optimizer. */
import type { OptionsOf } from '@toolenv/core/schemas';
import type { OptimizerSettings } from './sft-options.ts';

export const rejectionOptions = {
  keep: {
    type: 'integer',
    minimum: 1,
    default: 1,
    description: 'episodes per group to learn from: those with the highest rewards',
  },
  threshold: {
    type: 'number',
    default: 0,
    description: 'learn only from episodes with a higher reward',
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
