/** The options of supervised fine-tuning, and those that it shares, beside those of the run loop. */
import type { OptionsOf } from '@toolenv/core/schemas';

/** Of every trainer of this package that learns from a file. */
export const dataOptions = {
  data: {
    type: 'string',
    minLength: 1,
    description: 'JSONL file to learn from',
  },
  evalData: {
    type: 'string',
    minLength: 1,
    description: 'JSONL file of held-out examples, scored at each evaluation',
  },
  epochs: {
    type: 'number',
    exclusiveMinimum: 0,
    default: 1,
    description: 'passes over the data, unless steps is above 0',
  },
  batchSize: { type: 'integer', minimum: 1, default: 16, description: 'examples of a step' },
  batchTokens: {
    type: 'integer',
    minimum: 1,
    description: 'tokens of a step at most, in place of batchSize',
  },
  shuffle: {
    type: 'boolean',
    default: true,
    description: 'whether each pass has an order of its own; otherwise the order of the file',
  },
  maxLength: {
    type: 'integer',
    minimum: 2,
    description: "tokens of a row at most; longer rows lose their end (default: the policy's context)",
  },
} as const;

/** Of every trainer of this package. */
export const optimizerOptions = {
  learningRate: { type: 'number', minimum: 0, default: 2e-5, description: 'of AdamW' },
  weightDecay: { type: 'number', minimum: 0, default: 0, description: 'of AdamW, on matrices' },
  maxGradNorm: {
    type: 'number',
    minimum: 0,
    default: 1,
    description: 'gradients are scaled down to this L2 norm; 0 is never',
  },
} as const;

/** Of SFT alone. */
export const sftOptions = {
  minReward: {
    type: 'number',
    description: 'learn only from trajectories with at least this reward (default: all)',
  },
} as const;

export type DataOptions = OptionsOf<{ properties: typeof dataOptions }> & { data: string };
export type OptimizerSettings = OptionsOf<{ properties: typeof optimizerOptions }>;
export type SftOptions = DataOptions & OptimizerSettings & OptionsOf<{ properties: typeof sftOptions }>;
