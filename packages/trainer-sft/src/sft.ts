/** SFT: supervised fine-tuning on conversations, texts and trajectories of a file. */
import type { JsonSchema } from '@toolenv/core';
import type { Learner, TokenRow } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import {
  type AlgorithmContext,
  type ConfigurableTrainer,
  countTokens,
  defineTrainer,
  type RunOptions,
} from '@toolenv/training';
import { Batches } from './data/batches.ts';
import { checksum, refuseOtherData } from './data/checksum.ts';
import { requireEncode } from './data/encode-file.ts';
import { loadRows } from './data/load-rows.ts';
import { refuseIdleEvaluation } from './refuse-idle-evaluation.ts';
import {
  dataOptions,
  type OptimizerSettings,
  optimizerOptions,
  type SftOptions,
  sftOptions,
} from './sft-options.ts';
import { supervisedGradient, supervisedMetrics } from './supervised-loss.ts';

export const sft: ConfigurableTrainer<SftOptions & RunOptions> = defineTrainer<JsonSchema, SftOptions>({
  name: 'sft',
  description: 'Supervised fine-tuning on the assistant’s tokens of conversations',
  learnsFrom: 'data',
  options: {
    required: ['data'],
    properties: { ...dataOptions, ...optimizerOptions, ...sftOptions },
  },
  // The passes say how many steps there are.
  defaults: { steps: 0 },
  minimums: { steps: 0 },
  async create(context) {
    const { options, run, learner } = context;
    refuseIdleEvaluation(options, run);
    const policy = requireEncode(run.policy);
    const { maxLength = policy.spec.contextLength, minReward } = options;
    const limits = { maxLength, minReward };
    const { rows } = await loadRows(options.data, policy, limits);
    const { evalData } = options;
    const held = evalData === undefined ? undefined : (await loadRows(evalData, policy, limits)).rows;
    const lengths = rows.map(({ tokens }) => tokens.length);
    const batches = new Batches(lengths, { ...options, seed: run.seed });
    const memory = { data: checksum(rows), num_tokens: 0 };
    const refuse = refuseOtherData(memory, options.data);
    return {
      memory,
      steps: options.steps || batches.steps(options.epochs),
      async learn({ step }) {
        refuse();
        const { indices, epoch } = batches.at(step);
        const batch = indices.map((index) => rows[index]!);
        const isLogged = (step + 1) % options.logEvery === 0 || step === 0;
        const metrics = await learnRows(context, batch, isLogged);
        memory.num_tokens += batch.reduce((sum, { tokens }) => sum + tokens.length, 0);
        return { ...metrics, num_tokens: memory.num_tokens, epoch };
      },
      ...(held && { evaluate: () => scoreRows(learner, held) }),
    };
  },
});
export default sft;

/** One optimizer step on rows. */
export async function learnRows(
  {
    options,
    learner,
    optimize,
  }: Pick<AlgorithmContext<OptimizerSettings>, 'options' | 'learner' | 'optimize'>,
  rows: TokenRow[],
  isLogged = true,
): Promise<Metrics> {
  const { learningRate, weightDecay, maxGradNorm } = options;
  const outputs = isLogged ? await learner.forward({ rows }) : undefined;
  const gradients = { dLogprobs: supervisedGradient(rows) };
  const { gradNorm } = await optimize(rows, gradients, { learningRate, weightDecay, maxGradNorm });
  return {
    ...(outputs && supervisedMetrics(rows, outputs)),
    grad_norm: gradNorm,
    learned_tokens: rows.reduce((sum, { tokens }) => sum + tokens.length, 0),
  };
}

/** Rows of a forward pass, so that the outputs of a large file are not in memory at once. */
const rowsAtOnce = 64;

/** The mean over all tokens to learn, in nats. */
async function scoreRows(learner: Pick<Learner, 'forward'>, rows: readonly TokenRow[]): Promise<Metrics> {
  const totals: Metrics = {};
  let tokens = 0;
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    const part = rows.slice(start, start + rowsAtOnce);
    const count = countTokens(part.map(({ mask }) => mask));
    const metrics = supervisedMetrics(part, await learner.forward({ rows: part }));
    for (const [name, mean] of Object.entries(metrics)) totals[name] = (totals[name] ?? 0) + mean * count;
    tokens += count;
  }
  return Object.fromEntries(Object.entries(totals).map(([name, total]) => [name, total / tokens]));
}
