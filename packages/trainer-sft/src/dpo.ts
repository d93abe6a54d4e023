/** DPO: direct preference optimisation on pairs of a file (arXiv 2305.18290). */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import type { Learner, TokenRow } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import {
  type ConfigurableTrainer,
  defineTrainer,
  hasFixedSchedule,
  type RunOptions,
} from '@toolenv/training';
import { Batches } from './data/batches.ts';
import { checksum, refuseOtherData } from './data/checksum.ts';
import { type EncodingPolicy, encodeExample, readFile, requireEncode } from './data/encode-file.ts';
import { readPair } from './data/read-pair.ts';
import { type DpoOptions, preferenceOptions } from './dpo-options.ts';
import { learnPairs, type Pair, pairsLoss, rowsOf } from './learn-pairs.ts';
import { refuseIdleEvaluation } from './refuse-idle-evaluation.ts';
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
    refuseIdleEvaluation(options, run);
    const reference = await learner.reference();
    const policy = requireEncode(run.policy);
    const { maxLength = policy.spec.contextLength, evalData } = options;
    const pairs = await loadPairs(options.data, policy, maxLength);
    const held = evalData === undefined ? undefined : await loadPairs(evalData, policy, maxLength);
    const lengths = pairs.map((pair) => rowsOf([pair]).reduce((sum, { tokens }) => sum + tokens.length, 0));
    const batches = new Batches(lengths, { ...options, seed: run.seed });
    const memory = { data: checksum(rowsOf(pairs)) };
    const refuse = refuseOtherData(memory, options.data);
    return {
      memory,
      steps: options.steps || batches.steps(options.epochs),
      async learn({ step }) {
        refuse();
        const { indices, epoch } = batches.at(step);
        const chosen = indices.map((index) => pairs[index]!);
        return { ...(await learnPairs(context, reference, chosen)), epoch };
      },
      ...(held && { evaluate: () => scorePairs(learner, reference, held, options) }),
    };
  },
});
export default dpo;

/** @throws ToolEnvError `usage.bad_example` for a line that is not a pair, or longer than `maxLength`. */
async function loadPairs(file: string, policy: EncodingPolicy, maxLength: number): Promise<Pair[]> {
  const pairs: Pair[] = [];
  let left = 0;
  const encoded = readFile(file, async (text): Promise<Pair> => {
    const { chosen, rejected } = readPair(text);
    return { chosen: await encodeExample(policy, chosen), rejected: await encodeExample(policy, rejected) };
  });
  for await (const pair of encoded) {
    const isWhole = [pair.chosen, pair.rejected].every(
      (side) => side.length > 0 && side.every(fits(maxLength)),
    );
    if (isWhole) pairs.push(pair);
    else left += 1;
  }
  if (left > 0) {
    const what = `${left} of ${left + pairs.length} pairs of ${file} are longer than ${maxLength} tokens and are left out`;
    process.emitWarning(`${what}: raise maxLength to learn them.`, 'TruncatedData');
  }
  if (pairs.length > 0) return pairs;
  throw new ToolEnvError('usage.no_examples', `${file} has no pair of at most ${maxLength} tokens.`);
}

function fits(maxLength: number): (row: TokenRow) => boolean {
  return ({ tokens }) => tokens.length <= maxLength;
}

/** Pairs of a forward pass. */
const pairsAtOnce = 32;

async function scorePairs(
  learner: Pick<Learner, 'forward'>,
  reference: Pick<Learner, 'forward'>,
  pairs: readonly Pair[],
  options: DpoOptions,
): Promise<Metrics> {
  const totals: Metrics = {};
  for (let start = 0; start < pairs.length; start += pairsAtOnce) {
    const part = pairs.slice(start, start + pairsAtOnce);
    const rows = rowsOf(part);
    const { logprobs } = await learner.forward({ rows });
    const before = (await reference.forward({ rows })).logprobs;
    const { value, metrics } = pairsLoss(part, logprobs, before, options);
    for (const [name, mean] of Object.entries({ loss: value, ...metrics }))
      totals[name] = (totals[name] ?? 0) + (mean * part.length) / pairs.length;
  }
  return totals;
}
