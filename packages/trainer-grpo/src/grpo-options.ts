/** The options of GRPO and its family, beside those of the run loop and `updateOptions`. */
import type { OptionsOf } from '@toolenv/core/schemas';
import type { SelectionOptions, UpdateOptions } from '@toolenv/training';

/** An option without a default here takes the default of `algorithm`. */
export const grpoOptions = {
  type: 'object',
  properties: {
    algorithm: {
      enum: [
        'grpo',
        'dr_grpo',
        'dapo',
        'gspo',
        'cispo',
        'sapo',
        'bnpo',
        'rloo',
        'reinforce++',
        'reinforce++-baseline',
      ],
      default: 'grpo',
      description: 'sets advantage, loss and their options; each can be overridden',
    },
    learningRate: {
      type: 'number',
      minimum: 0,
      description: 'of AdamW (default: 1e-6; 1e-5 for LoRA adapters; small models need more)',
    },

    advantage: {
      enum: ['grpo', 'rloo', 'reinforce++', 'reinforce++-baseline'],
      description: 'how episodes or tokens are compared',
    },
    scaleRewards: {
      enum: ['group', 'batch', 'none'],
      description: 'whose standard deviation divides the advantage grpo',
    },
    credit: {
      enum: ['episode', 'turn'],
      default: 'episode',
      description:
        'whether the advantages grpo and rloo compare whole episodes, or what came after each turn',
    },
    gamma: {
      type: 'number',
      minimum: 0,
      default: 1,
      description: 'discount for each token of the policy, in the advantage reinforce++',
    },
    zeroVariance: {
      enum: ['drop', 'keep', 'resample'],
      description:
        'groups whose episodes all scored the same: drop leaves them out of the averages unless a penalty or bonus pulls, keep counts them, resample plays other tasks in their place (DAPO)',
    },

    loss: {
      enum: ['grpo', 'bnpo', 'dr_grpo', 'dapo', 'cispo', 'sapo'],
      description:
        'the surrogate and its average: over rows (grpo, sapo), over a constant length (dr_grpo), over tokens (the others)',
    },
    ratioLevel: {
      enum: ['token', 'sequence'],
      description: 'whether the importance ratio is per token or per sequence (GSPO)',
    },
    clip: {
      type: 'array',
      items: { type: 'number', minimum: 0 },
      minItems: 2,
      maxItems: 2,
      description: 'the ratio is clipped to [1 − low, 1 + high]',
    },
    delta: {
      type: 'number',
      minimum: 1,
      description: 'dual clip: the largest ratio that counts where the advantage is negative; 3 is usual',
    },
    ratioCap: {
      type: 'number',
      minimum: 0,
      default: 5,
      description: 'the largest weight of a token in cispo',
    },
    sapoTemperatures: {
      type: 'array',
      items: { type: 'number', minimum: 0 },
      minItems: 2,
      maxItems: 2,
      default: [1, 1.05],
      description: 'of sapo: for positive advantages, and for the others',
    },
    maxCompletionLength: {
      type: 'integer',
      minimum: 1,
      description: 'tokens that dr_grpo divides a row by (default: maxTokens)',
    },

    beta: {
      type: 'number',
      minimum: 0,
      description: 'weight of the KL to the policy that training began with',
    },
    klIn: {
      enum: ['loss', 'reward'],
      description: 'whether the KL is added to the loss or subtracted from the reward',
    },
    klEstimator: { enum: ['k1', 'k2', 'k3'], description: 'how the KL is estimated' },
    klClamp: {
      type: 'number',
      minimum: 0,
      default: 10,
      description: "the largest absolute value of a token's KL estimate",
    },
    topEntropyQuantile: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'share of the tokens that the policy gradient uses: those with the highest entropy',
    },
    offPolicyThreshold: {
      type: 'number',
      minimum: 0,
      description:
        'leave out tokens with a negative advantage in rows whose log-probability fell by more than this per token (default: never)',
    },
  },
} as const;

export type GrpoOptions = UpdateOptions & SelectionOptions & OptionsOf<typeof grpoOptions>;
