/** SFT: supervised fine-tuning on conversations, texts and trajectories of a file. */
import type { JsonSchema } from '@toolenv/core';
import {
  type ConfigurableTrainer,
  defineTrainer,
  hasFixedSchedule,
  type RunOptions,
} from '@toolenv/training';
import { requireEncode } from './data/encode-file.ts';
import { fileAlgorithm } from './data/file-algorithm.ts';
import { loadRows } from './data/load-rows.ts';
import { learnRows } from './learn-rows.ts';
import { refuseIdleEvaluation } from './refuse-idle-evaluation.ts';
import { scoreRows } from './score-rows.ts';
import { dataOptions, optimizerOptions, type SftOptions, sftOptions } from './sft-options.ts';

export const sft: ConfigurableTrainer<SftOptions & RunOptions> = defineTrainer<JsonSchema, SftOptions>({
  name: 'sft',
  description: 'Supervised fine-tuning on the assistant’s tokens of conversations',
  learnsFrom: 'data',
  options: {
    required: ['data'],
    properties: {
      ...dataOptions,
      epochs: { ...dataOptions.epochs, mayChange: hasFixedSchedule },
      ...optimizerOptions,
      ...sftOptions,
    },
  },
  // The passes say how many steps there are.
  defaults: { steps: 0 },
  minimums: { steps: 0 },
  async create(context) {
    const { options, run, learner } = context;
    const { signal } = run;
    refuseIdleEvaluation(options, run);
    const policy = requireEncode(run.policy);
    const { maxLength = policy.spec.contextLength, minReward } = options;
    const limits = { maxLength, minReward, signal };
    const { rows } = await loadRows(options.data, policy, limits);
    const { evalData } = options;
    const held = evalData === undefined ? undefined : (await loadRows(evalData, policy, limits)).rows;
    return fileAlgorithm({
      items: rows,
      rowsOf: (batch) => [...batch],
      options,
      seed: run.seed,
      learn: (batch) => learnRows(context, batch),
      ...(held && { evaluate: () => scoreRows(learner, held, signal) }),
    });
  },
});
export default sft;
