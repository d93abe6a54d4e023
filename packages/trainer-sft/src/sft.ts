/** SFT: supervised fine-tuning on conversations, texts and trajectories of a file. */
import type { JsonSchema } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import { type ConfigurableTrainer, defineTrainer, type RunOptions } from '@toolenv/training';
import { fileAlgorithm } from './data/file-algorithm.ts';
import { loadRows } from './data/load-rows.ts';
import { dataOptions, optimizerOptions, type SftOptions, sftOptions } from './sft-options.ts';
import { learnRows, scoreRows } from './supervised-loss.ts';

export const sft: ConfigurableTrainer<SftOptions & RunOptions> = defineTrainer<JsonSchema, SftOptions>({
  name: 'sft',
  description: 'Supervised fine-tuning on the assistant’s tokens of conversations',
  learnsFrom: 'data',
  options: {
    required: ['data'],
    properties: {
      ...dataOptions,
      ...optimizerOptions,
      ...sftOptions,
    },
  },
  // The passes say how many steps there are.
  defaults: { steps: 0 },
  minimums: { steps: 0 },
  create(context) {
    const { minReward, judgedBy } = context.options;
    return fileAlgorithm<TokenRow>(context, {
      load: async (file, policy, limits) =>
        (await loadRows(file, policy, { ...limits, minReward, judgedBy })).rows,
      rowsOf: (rows) => [...rows],
      learn: (batch) => learnRows(context, batch),
      evaluate: (held) => scoreRows(context.learner, held, context.run.signal),
    });
  },
});
export default sft;
