/** The options of distillation, in addition to those of the run loop. */
import type { OptionsOf } from '@toolenv/core/schemas';
import {
  type AdvantageOptions,
  advantageOptions,
  type LossOptions,
  lossOptions,
  type OptionSchema,
  type SelectionOptions,
  selectionOptions,
  type UpdateOptions,
  updateOptions,
} from '@toolenv/training';

const properties = {
  teacher: {
    type: 'string',
    minLength: 1,
    description:
      'policy to learn from: a folder, openai:<url>#<model>?tokenizer=<folder>, tinker:<url>#<model> or a reference; ?<option>=<value> sets its options',
  },
  teacherCoefficient: {
    type: 'number',
    minimum: 0,
    default: 1,
    description: "weight of the teacher's log-probability less the student's, in the advantage of a token",
  },
  rewardCoefficient: {
    type: 'number',
    minimum: 0,
    default: 0,
    description: "weight of the environment's rewards: of the advantage that the estimator gives them",
  },
  klClamp: {
    type: 'number',
    minimum: 0,
    default: 10,
    description: "largest absolute difference of a token's two log-probabilities, in nats",
  },
  learningRate: {
    type: 'number',
    minimum: 0,
    description: 'learning rate of AdamW (default: 1e-6; 1e-5 for LoRA adapters; small models need more)',
  },
} as const;

const { epochs, miniBatches, weightDecay, maxGradNorm, entropyCoefficient } = updateOptions;
const { mismatchCorrection, mismatchCap, mismatchFloor } = selectionOptions;

export const distillOptions: {
  readonly properties: Readonly<Record<string, OptionSchema>>;
  readonly required: readonly string[];
} = {
  properties: {
    ...properties,
    ...advantageOptions,
    advantage: { ...advantageOptions.advantage!, default: 'grpo' },
    ...lossOptions,
    loss: { ...lossOptions.loss!, default: 'dapo' },
    ...{ mismatchCorrection, mismatchCap, mismatchFloor },
    ...{ epochs, miniBatches, weightDecay, maxGradNorm, entropyCoefficient },
  },
  required: ['teacher'],
};

export type DistillOptions = OptionsOf<{ properties: typeof properties }> & { teacher: string } & Pick<
    UpdateOptions,
    'epochs' | 'miniBatches' | 'weightDecay' | 'maxGradNorm' | 'entropyCoefficient'
  > &
  Pick<SelectionOptions, 'mismatchCorrection' | 'mismatchCap' | 'mismatchFloor'> &
  AdvantageOptions &
  LossOptions;
