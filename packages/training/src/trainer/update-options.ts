/** Options that policy-gradient algorithms share. An algorithm spreads them into its own properties. */
import type { OptionsOf } from '@toolenv/core/schemas';

export const updateOptions = {
  epochs: { type: 'integer', minimum: 1, default: 1, description: 'passes over each rollout' },
  miniBatches: {
    type: 'integer',
    minimum: 1,
    default: 1,
    description: 'optimizer steps per epoch, each on a share of the rollout',
  },
  weightDecay: { type: 'number', minimum: 0, default: 0, description: 'weight decay of AdamW, on matrices' },
  maxGradNorm: {
    type: 'number',
    minimum: 0,
    default: 1,
    description: 'scale gradients down to this L2 norm; 0: never',
  },
  normaliseProcessRewards: {
    type: 'boolean',
    default: false,
    description:
      'divide process rewards by the largest process return of the batch (PRIME, arXiv 2502.01456)',
  },
  entropyCoefficient: { type: 'number', minimum: 0, default: 0, description: 'weight of the entropy bonus' },
  klEvery: {
    type: 'integer',
    minimum: 0,
    default: 10,
    mayChange: true,
    description:
      'without beta: steps between measurements of the KL to the policy that training began with, over a quarter of the rows; 0 is never. Keeps a copy of the weights, except with an adapter',
  },
  actionMask: {
    type: 'boolean',
    default: true,
    description:
      "for ablations only: without it, the environment's tokens are learned from as if the policy had written them, with the advantage of the action before them",
  },
  advantageMask: {
    type: 'boolean',
    default: true,
    description:
      "for ablations only: without it, returns and advantages run over the environment's tokens too, and a critic learns there",
  },
} as const;

export type UpdateOptions = OptionsOf<{ properties: typeof updateOptions }>;
