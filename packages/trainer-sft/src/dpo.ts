/** DPO: direct preference optimisation on pairs of a file (arXiv 2305.18290). */
import type { JsonSchema } from '@toolenv/core';
import { type ConfigurableTrainer, defineTrainer, type RunOptions } from '@toolenv/training';
import { fileAlgorithm } from './data/file-algorithm.ts';
import { loadPairs } from './data/load-pairs.ts';
import { type DpoOptions, preferenceOptions } from './dpo-options.ts';
import { learnPairs, rowsOf, scorePairs } from './learn-pairs.ts';
import { dataOptions } from './sft-options.ts';

export const dpo: ConfigurableTrainer<DpoOptions & RunOptions> = defineTrainer<JsonSchema, DpoOptions>({
  name: 'dpo',
  description: 'Direct preference optimisation on pairs of answers (arXiv 2305.18290)',
  learnsFrom: 'data',
  options: {
    required: ['data'],
    properties: {
      ...dataOptions,
      ...preferenceOptions,
    },
  },
  defaults: { steps: 0 },
  minimums: { steps: 0 },
  async create(context) {
    const { options, run, learner } = context;
    const reference = await learner.reference();
    return fileAlgorithm(context, {
      load: loadPairs,
      rowsOf,
      learn: (batch) => learnPairs(context, reference, batch),
      evaluate: (held) => scorePairs(learner, reference, held, options, run.signal),
    });
  },
});
export default dpo;
