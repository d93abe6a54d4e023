/** The options of GRPO and its family, in addition to those of the run loop and `updateOptions`. */
import type { OptionsOf } from '@toolenv/core/schemas';
import type {
  AdvantageOptions,
  LengthOptions,
  LossOptions,
  SelectionOptions,
  UpdateOptions,
} from '@toolenv/training';

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
        'vespo',
        'luspo',
        'rloo',
        'reinforce++',
        'reinforce++-baseline',
      ],
      default: 'grpo',
      description: 'sets the defaults of advantage, loss and their options',
    },
    learningRate: {
      type: 'number',
      minimum: 0,
      description: 'learning rate of AdamW (default: 1e-6; 1e-5 for LoRA adapters; small models need more)',
    },

    zeroVariance: {
      enum: ['drop', 'keep', 'resample'],
      description:
        'groups whose episodes all scored the same: drop leaves them out of the averages, unless a penalty or bonus applies; keep counts them; resample plays other tasks instead (DAPO)',
    },

    ratioLevel: {
      enum: ['token', 'sequence'],
      description: 'importance ratio per token, or per sequence (GSPO, LUSPO)',
    },

    beta: {
      type: 'number',
      minimum: 0,
      description: 'weight of the KL divergence from the initial policy',
    },
    klIn: {
      enum: ['loss', 'reward'],
      description: 'add the KL to the loss, or subtract it from the reward',
    },
    klEstimator: { enum: ['k1', 'k2', 'k3'], description: 'estimator of the KL' },
    klClamp: {
      type: 'number',
      minimum: 0,
      default: 10,
      description:
        "bound of a token's KL estimate: beyond it, an estimate in the loss grows in a straight line, and an estimate in the reward is cut",
    },
    biasCorrectedKl: {
      type: 'boolean',
      default: true,
      description:
        "multiply a token's KL in the loss by its ratio, as TRL does, so that the gradient is that of the reverse KL (arXiv 2512.02556)",
    },
    topEntropyQuantile: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 1,
      description:
        'share of the tokens to learn from: those with the highest entropy; 0.2 in arXiv 2506.01939',
    },
    offPolicyThreshold: {
      type: 'number',
      minimum: 0,
      description:
        'leave out tokens with a negative advantage in episodes whose log-probability fell by more than this per token (arXiv 2512.02556) (default: never)',
    },
  },
} as const;

export type GrpoOptions = UpdateOptions &
  SelectionOptions &
  Partial<LengthOptions> &
  OptionsOf<typeof grpoOptions> &
  AdvantageOptions &
  LossOptions;
