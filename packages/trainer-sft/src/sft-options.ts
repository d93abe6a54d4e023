/** The options of supervised fine-tuning, and those that trainers of this package share. */
import type { OptionsOf } from '@toolenv/core/schemas';
import { hasFixedSchedule, type OptionSchema, type UpdateOptions, updateOptions } from '@toolenv/training';

const properties = {
  data: {
    type: 'string',
    minLength: 1,
    description: 'JSONL file to learn from',
  },
  evalData: {
    type: 'string',
    minLength: 1,
    description: 'JSONL file of held-out examples to score at each evaluation',
  },
  epochs: {
    type: 'number',
    exclusiveMinimum: 0,
    default: 1,
    description: 'passes over the data, unless steps is above 0',
  },
  batchSize: { type: 'integer', minimum: 1, default: 16, description: 'examples per step' },
  batchTokens: {
    type: 'integer',
    minimum: 1,
    description: 'largest number of tokens per step, instead of batchSize',
  },
  shuffle: {
    type: 'boolean',
    default: true,
    description: 'whether to shuffle the examples anew for each pass',
  },
  maxLength: {
    type: 'integer',
    minimum: 2,
    description: "largest number of tokens per row; longer rows are cut (default: the policy's context)",
  },
} as const;

/** Options of the trainers that learn from a file. */
export const dataOptions: Readonly<Record<string, OptionSchema>> = {
  ...properties,
  epochs: { ...properties.epochs, mayChange: hasFixedSchedule },
};

/** Options of every trainer of this package. */
export const optimizerOptions: Readonly<Record<keyof OptimizerSettings, OptionSchema>> = {
  learningRate: { type: 'number', minimum: 0, default: 2e-5, description: 'learning rate of AdamW' },
  weightDecay: updateOptions.weightDecay,
  maxGradNorm: updateOptions.maxGradNorm,
};

/** Options of SFT alone. */
export const sftOptions = {
  minReward: {
    type: 'number',
    description: 'learn only from trajectories with at least this score (default: all)',
  },
  judgedBy: {
    type: 'string',
    minLength: 1,
    description:
      'reward component that minReward looks at, such as em (default: the weighted sum of the outcome rewards)',
  },
} as const;

export type DataOptions = OptionsOf<{ properties: typeof properties }> & { data: string };
export type OptimizerSettings = Pick<UpdateOptions, 'weightDecay' | 'maxGradNorm'> & { learningRate: number };
export type SftOptions = DataOptions & OptimizerSettings & OptionsOf<{ properties: typeof sftOptions }>;
