/** DPO: direct preference optimisation on pairs of a file (arXiv 2305.18290). */
import type { JsonSchema } from '@toolenv/core';
import {
  type ConfigurableTrainer,
  defineTrainer,
  hasFixedSchedule,
  type RunOptions,
} from '@toolenv/training';
import { requireEncode } from './data/encode-file.ts';
import { fileAlgorithm } from './data/file-algorithm.ts';
import { loadPairs } from './data/load-pairs.ts';
import { type DpoOptions, preferenceOptions } from './dpo-options.ts';
import { learnPairs, rowsOf } from './learn-pairs.ts';
import { refuseIdleEvaluation } from './refuse-idle-evaluation.ts';
import { scorePairs } from './score-pairs.ts';
import { dataOptions, optimizerOptions } from './sft-options.ts';

export const dpo: ConfigurableTrainer<DpoOptions & RunOptions> = defineTrainer<JsonSchema, DpoOptions>({
  name: 'dpo',
  description: 'Direct preference optimisation on pairs of answers (arXiv 2305.18290)',
  learnsFrom: 'data',
  options: {
    required: ['data'],
    properties: {
      ...dataOptions,
      epochs: { ...dataOptions.epochs, mayChange: hasFixedSchedule },
      ...optimizerOptions,
      // TRL's default.
      learningRate: { ...optimizerOptions.learningRate, default: 1e-6 },
      ...preferenceOptions,
    },
  },
  defaults: { steps: 0 },
  minimums: { steps: 0 },
  async create(context) {
    const { options, run, learner } = context;
    const { signal } = run;
    refuseIdleEvaluation(options, run);
    const reference = await learner.reference();
    const policy = requireEncode(run.policy);
    const { maxLength = policy.spec.contextLength, evalData } = options;
    const limits = { maxLength, signal };
    const pairs = await loadPairs(options.data, policy, limits);
    const held = evalData === undefined ? undefined : await loadPairs(evalData, policy, limits);
    return fileAlgorithm({
      items: pairs,
      rowsOf,
      options,
      seed: run.seed,
      learn: (batch) => learnPairs(context, reference, batch),
      ...(held && { evaluate: () => scorePairs(learner, reference, held, options, signal) }),
    });
  },
});
export default dpo;
