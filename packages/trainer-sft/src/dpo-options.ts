/** The options of direct preference optimisation. */
import type { OptionsOf } from '@toolenv/core/schemas';
import type { OptionSchema } from '@toolenv/training';
import { type DataOptions, type OptimizerSettings, optimizerOptions } from './sft-options.ts';

const properties = {
  lossType: {
    enum: ['sigmoid', 'hinge', 'ipo', 'robust'],
    default: 'sigmoid',
    description: 'DPO, SLiC, IPO, or DPO for pairs with wrong labels',
  },
  beta: {
    type: 'number',
    exclusiveMinimum: 0,
    default: 0.1,
    description: 'strength of the pull towards the initial policy',
  },
  labelSmoothing: {
    type: 'number',
    minimum: 0,
    exclusiveMaximum: 0.5,
    default: 0,
    description: 'expected share of wrong labels, for sigmoid and robust',
  },
  rpoAlpha: {
    type: 'number',
    minimum: 0,
    default: 0,
    description: 'weight of the mean cross-entropy of the chosen tokens, added to the loss (RPO)',
  },
} as const;

/** Options of both trainers. Names and defaults are those of TRL's DPOConfig. */
export const preferenceOptions: Readonly<Record<string, OptionSchema>> = {
  ...optimizerOptions,
  learningRate: { ...optimizerOptions.learningRate, default: 1e-6 },
  ...properties,
};

export type PreferenceOptions = OptionsOf<{ properties: typeof properties }> & OptimizerSettings;
export type DpoOptions = PreferenceOptions & DataOptions;
