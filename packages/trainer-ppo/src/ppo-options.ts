/** The options of PPO, in addition to those of the run loop and `updateOptions`. */
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
      description:
        'learning rate of AdamW for the policy (default: 1e-6; 1e-5 for LoRA adapters; small models need more)',
    },

    critic: {
      enum: ['shared', 'separate'],
      default: 'shared',
      description:
        "a value head on the policy's trunk, or a separate model that starts as a copy of the policy",
    },
    criticLearningRate: {
      type: 'number',
      minimum: 0,
      default: 1e-5,
      description: "learning rate of AdamW for the critic's own parameters",
    },
    criticWarmup: {
      type: 'integer',
      minimum: 0,
      default: 5,
      description: 'number of first steps in which only the critic learns',
    },
    valueClip: {
      type: 'number',
      exclusiveMinimum: 0,
      default: 0.5,
      description: 'a value that moves by more than this has no gradient',
    },
    valueCoefficient: {
      type: 'number',
      minimum: 0,
      default: 0.1,
      description: 'weight of the value loss relative to the policy loss',
    },

    advantage: {
      enum: ['gae'],
      part: 'advantages',
      default: 'gae',
      description:
        'advantage estimator: generalised advantage estimation, or the reference or file of an estimator',
    },
    credit: {
      enum: ['token', 'turn'],
      default: 'token',
      description: 'generalised advantage estimation from token to token, or from turn to turn (Turn-PPO)',
    },
    gamma: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'discount per token of the policy; with credit turn, per turn',
    },
    lambda: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'λ of generalised advantage estimation: 1 trusts the observed rewards, 0 the critic',
    },
    zeroVariance: {
      enum: ['keep', 'resample'],
      default: 'keep',
      description:
        'groups whose episodes all scored the same: resample plays other tasks instead (DAPO) and needs a groupSize of 2 or more',
    },
    beta: {
      type: 'number',
      minimum: 0,
      default: 1e-3,
      description: 'weight of the KL divergence from the initial policy, subtracted from the reward; 0: none',
    },
    klControl: {
      enum: ['fixed', 'adaptive'],
      default: 'fixed',
      description: 'keep beta, or adapt it to reach klTarget',
    },
    klTarget: {
      type: 'number',
      exclusiveMinimum: 0,
      default: 0.1,
      description: 'target of the adaptive beta: mean KL per token, in nats',
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
    /** A name, a reference, or an estimator. */
    advantage: string | AdvantageEstimator;
  };
