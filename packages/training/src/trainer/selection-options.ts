/** Options of policy-gradient algorithms that say which episodes and tokens of a rollout count, and how much. */
import type { OptionsOf } from '@toolenv/core/schemas';

export const selectionOptions = {
  truncated: {
    enum: ['learn', 'mask'],
    description: 'learn from truncated episodes, or mask them: they still count in their groups',
  },
  maxResamples: {
    type: 'integer',
    minimum: 1,
    default: 3,
    description: 'how many times zeroVariance resample plays other tasks',
  },
  mismatchCorrection: {
    enum: ['none', 'token_truncate', 'token_mask', 'sequence_truncate', 'sequence_mask'],
    description:
      'weighs tokens by learner over sampler probability: capped (TIS), or left out beyond the cap (default: none; token_truncate with maxStaleness, with workers, and where a server samples). vespo corrects per token only',
  },
  mismatchCap: {
    type: 'number',
    minimum: 1,
    default: 3,
    description: 'largest weight of the mismatch correction',
  },
  mismatchFloor: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 0,
    description: 'smallest weight of the mismatch correction',
  },
} as const;

export type SelectionOptions = OptionsOf<{ properties: typeof selectionOptions }>;
