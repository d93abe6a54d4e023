/** The options of PPO, beside those of the run loop. */
import type { OptionsOf } from '@toolenv/core/schemas';

export const ppoOptions = {
  type: 'object',
  properties: {
    epochs: { type: 'integer', minimum: 1, default: 1, description: 'passes over each rollout' },
    miniBatches: {
      type: 'integer',
      minimum: 1,
      default: 1,
      description: 'optimizer steps of each epoch, each on a share of the rollout',
    },
    learningRate: { type: 'number', minimum: 0, default: 3e-5, description: 'of AdamW, for the policy' },
    weightDecay: { type: 'number', minimum: 0, default: 0, description: 'of AdamW, on matrices' },
    maxGradNorm: {
      type: 'number',
      minimum: 0,
      default: 1,
      description: 'gradients of policy and critic are each scaled down to this L2 norm',
    },

    critic: {
      enum: ['shared', 'separate'],
      default: 'shared',
      description:
        "a value head on the policy's trunk, or a separate model that begins as a copy of the policy",
    },
    criticLearningRate: {
      type: 'number',
      minimum: 0,
      default: 3e-4,
      description: "of AdamW, for the critic's own parameters",
    },
    criticWarmup: {
      type: 'integer',
      minimum: 0,
      default: 5,
      description: 'first steps in which only the critic learns',
    },
    valueClip: {
      type: 'number',
      exclusiveMinimum: 0,
      default: 0.5,
      description: 'a value that moved by more than this has no gradient',
    },
    valueCoefficient: {
      type: 'number',
      minimum: 0,
      default: 0.1,
      description: 'weight of the value loss beside the policy loss',
    },

    gamma: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'discount for each token of the policy',
    },
    lambda: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'of generalised advantage estimation: 1 trusts the rewards seen, 0 the critic',
    },
    clip: {
      type: 'array',
      items: { type: 'number', minimum: 0 },
      minItems: 2,
      maxItems: 2,
      default: [0.2, 0.2],
      description: 'the ratio is clipped to [1 − low, 1 + high]',
    },
    delta: {
      type: 'number',
      minimum: 1,
      default: 3,
      description: 'dual clip: the largest ratio that counts where the advantage is negative',
    },
    entropyCoefficient: {
      type: 'number',
      minimum: 0,
      default: 0,
      description: 'weight of the mean entropy, a bonus',
    },
    normaliseProcessRewards: {
      type: 'boolean',
      default: false,
      description: 'divide process rewards by the largest process return of the batch (PRIME)',
    },

    beta: {
      type: 'number',
      minimum: 0,
      default: 1e-3,
      description:
        'weight of the KL to the policy that training began with, subtracted from the reward; 0 is none',
    },
    klControl: {
      enum: ['fixed', 'adaptive'],
      default: 'fixed',
      description: 'whether beta stays, or seeks klTarget',
    },
    klTarget: {
      type: 'number',
      exclusiveMinimum: 0,
      default: 0.1,
      description: 'mean KL of a token, in nats, that the adaptive beta seeks',
    },
    klHorizon: {
      type: 'integer',
      minimum: 1,
      default: 10_000,
      description: 'episodes in which the adaptive beta changes by a fifth at most',
    },

    actionMask: {
      type: 'boolean',
      default: true,
      description:
        "for ablations only: without it, the losses are averaged over the environment's tokens too, as if the policy had written them",
    },
    advantageMask: {
      type: 'boolean',
      default: true,
      description:
        "for ablations only: without it, returns and advantages run over the environment's tokens too",
    },
  },
} as const;

export type PpoOptions = OptionsOf<typeof ppoOptions>;
