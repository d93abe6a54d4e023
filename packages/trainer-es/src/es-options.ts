/** The options of evolution strategies. */
import type { OptionsOf } from '@toolenv/core/schemas';

export const esOptions = {
  pairs: {
    type: 'integer',
    minimum: 1,
    default: 8,
    description:
      'pairs of opposite perturbations in a step; both policies of a pair play all tasks of the step',
  },
  noise: {
    type: 'number',
    exclusiveMinimum: 0,
    default: 0.01,
    description: 'standard deviation of a perturbation of a weight; large models need less',
  },
  learningRate: {
    type: 'number',
    exclusiveMinimum: 0,
    description:
      'length of a step: the factor of the mean of the perturbations, each weighted by its standardised reward (default: noise)',
  },
} as const;

/** The options of evolution strategies alone; those of the run come in addition. */
export type EsOptions = OptionsOf<{ properties: typeof esOptions }>;
