/** The options of PPO, beside those of the run loop and `updateOptions`. */
import type { OptionsOf } from '@toolenv/core/schemas';
import {
  type AdvantageEstimator,
  type LengthOptions,
  type LossOptions,
  lossOptions,
  type OptionSchema,
  type SelectionOptions,
  type UpdateOptions,
} from '@toolenv/training';

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

    advantage: {
      enum: ['gae'],
      part: 'advantages',
      default: 'gae',
      description:
        'how rewards and the critic become advantages: generalised advantage estimation, or the reference or file of an estimator',
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

/** The options that choose the policy loss: the clipped surrogate of PPO, with dual clip, unless the user wants another. */
export const policyLossOptions: Readonly<Record<string, OptionSchema>> = {
  ...lossOptions,
  loss: { ...lossOptions.loss!, default: 'bnpo' },
  delta: { ...lossOptions.delta!, default: 3 },
};

export type PpoOptions = UpdateOptions &
  LengthOptions &
  SelectionOptions &
  LossOptions &
  Omit<OptionsOf<typeof ppoOptions>, 'advantage'> & {
    /** A name, a reference, or an estimator. Its own options stand beside it. */
    advantage: string | AdvantageEstimator;
  };
