/** The options of PPO, beside those of the run loop and `updateOptions`. */
import type { OptionsOf } from '@toolenv/core/schemas';
import type { LengthOptions, SelectionOptions, UpdateOptions } from '@toolenv/training';

export const ppoOptions = {
  type: 'object',
  properties: {
    learningRate: {
      type: 'number',
      minimum: 0,
      description: 'of AdamW, for the policy (default: 1e-6; 1e-5 for LoRA adapters; small models need more)',
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
      default: 1e-5,
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

    credit: {
      enum: ['token', 'turn'],
      default: 'token',
      description:
        'whether generalised advantage estimation goes from token to token, or from turn to turn (Turn-PPO)',
    },
    gamma: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'discount for each token of the policy; with credit turn, for each turn',
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

    zeroVariance: {
      enum: ['keep', 'resample'],
      default: 'keep',
      description:
        'groups whose episodes all scored the same: resample plays other tasks in their place (DAPO), and needs a groupSize of 2 or more',
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
  },
} as const;

export type PpoOptions = UpdateOptions & LengthOptions & SelectionOptions & OptionsOf<typeof ppoOptions>;
