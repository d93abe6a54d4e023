/** Options of the optimizer that every trainer has: the schedule of the learning rate, and the constants of Adam. */
import type { OptionsOf } from '@toolenv/core/schemas';

/** Names follow transformers: `lr_scheduler_type`, `warmup_steps`, `warmup_ratio`, `min_lr_rate`, `adam_beta1`. */
export const optimizerOptions = {
  learningRateSchedule: {
    enum: ['constant', 'constant_with_warmup', 'linear', 'cosine'],
    default: 'constant',
    description: 'how the learning rate changes: linear and cosine fall after the warm-up',
  },
  warmupSteps: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description: 'first steps, during which the learning rate rises',
  },
  warmupRatio: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 0,
    description: 'warm-up as a share of the schedule; warmupSteps overrides it',
  },
  minLearningRateRatio: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 0,
    description: 'share of the learning rate at the end of linear and cosine',
  },
  scheduleSteps: {
    type: 'integer',
    minimum: 1,
    description: 'length of the schedule; afterwards the rate is constant (default: steps)',
  },
  adamBeta1: {
    type: 'number',
    minimum: 0,
    exclusiveMaximum: 1,
    default: 0.9,
    description: 'decay of the mean of the gradients in AdamW',
  },
  adamBeta2: {
    type: 'number',
    minimum: 0,
    exclusiveMaximum: 1,
    default: 0.999,
    description: 'decay of the mean of the squared gradients in AdamW',
  },
  adamEpsilon: {
    type: 'number',
    exclusiveMinimum: 0,
    default: 1e-8,
    description: 'epsilon of AdamW: added to the root of the mean squared gradient',
  },
} as const;

export type OptimizerOptions = OptionsOf<{ properties: typeof optimizerOptions }>;

/**
 * A JSON Schema that the options of a run meet if its schedule does not depend on how many steps there are: `mayChange` of
 * options that say how many.
 */
export const hasFixedSchedule: { readonly anyOf: readonly object[] } = {
  anyOf: [
    { required: ['scheduleSteps'] },
    {
      properties: {
        learningRateSchedule: { enum: ['constant', 'constant_with_warmup'] },
        warmupRatio: { const: 0 },
      },
    },
  ],
};
