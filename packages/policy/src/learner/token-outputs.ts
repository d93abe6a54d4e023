/** The outputs of a learner for the action tokens of a padded batch: log-probabilities, entropies and values. */
import { decoder, type LowRank, logits, selfAttention } from '../model/decoder.ts';
import type { ModelConfig } from '../model/model-config.ts';
import type { Ops } from '../runtime/ops.ts';
import { valueHead } from './critic.ts';

export type TokenOutput = 'logprobs' | 'entropy' | 'values';
/** The gradient of a loss with respect to an output. */
export type TokenSlope = 'dLogprobs' | 'dEntropy' | 'dValues';

const outputOf: Record<TokenSlope, TokenOutput> = {
  dLogprobs: 'logprobs',
  dEntropy: 'entropy',
  dValues: 'values',
};

/** tokens and positions [B, T], mask [T, T]. */
export function batchInputs<T>(ops: Ops<T>): { tokens: T; positions: T; mask: T } {
  return {
    tokens: ops.input('tokens', 'int32', ['B', 'T']),
    positions: ops.input('positions', 'int32', ['B', 'T']),
    mask: ops.input('mask', 'float32', ['T', 'T']),
  };
}

/** Hidden states [N, width] of a padded batch. */
export function hiddenStates<T>(ops: Ops<T>, config: ModelConfig, lowRank?: LowRank<T>): T {
  const { tokens, positions, mask } = batchInputs(ops);
  return decoder(ops, config, tokens, positions, selfAttention(ops, config, mask), lowRank);
}

/** The named outputs, [M] each, from hidden states [N, width]. Logits are computed in `parts` along M to bound their memory. */
export function tokenOutputs<T>(
  ops: Ops<T>,
  config: ModelConfig,
  hidden: T,
  names: readonly TokenOutput[],
  parts: number,
): Record<string, T> {
  const outputs = inParts(ops, config, hidden, parts);
  return Object.fromEntries(
    names.map((name) => {
      const [first, ...rest] = outputs[name]() as [T, ...T[]];
      return [name, rest.length === 0 ? first : ops.concat([first, ...rest], 0)];
    }),
  );
}

/** Σ slope · output over the inputs named `slopes`, [M] each. Its gradient is what `backward` accumulates. */
export function linearFunctional<T>(
  ops: Ops<T>,
  config: ModelConfig,
  hidden: T,
  slopes: readonly TokenSlope[],
  parts: number,
): T {
  const outputs = inParts(ops, config, hidden, parts);
  const terms = slopes.flatMap((name) => {
    const pieces = outputs[outputOf[name]]();
    const slope = cut(ops, ops.input(name, 'float32', ['M']), pieces.length);
    return pieces.map((piece, index) => ops.sumAll(ops.mul(slope[index]!, piece)));
  });
  return terms.reduce((sum, term) => ops.add(sum, term));
}

/** Each output in pieces along M. The functions add an output to the graph when they are called. */
function inParts<T>(
  ops: Ops<T>,
  config: ModelConfig,
  hidden: T,
  parts: number,
): Record<TokenOutput, () => T[]> {
  const where = ops.input('where', 'int32', ['M']);
  // With several parts, padding may repeat an index.
  const states = ops.gatherRows(hidden, where, { distinct: parts === 1 });
  let scores: T[] | undefined;
  const scoresInParts = () => {
    if (scores) return scores;
    const inverseTemperature = ops.input('inverseTemperature', 'float32', []);
    // Divide the hidden states instead of the logits: the head has no bias, so the result is the same for less work.
    const cooled = cut(ops, ops.mul(states, inverseTemperature), parts);
    scores = cooled.map((part) => logits(ops, config, part));
    return scores;
  };
  return {
    logprobs: () => {
      const targets = cut(ops, ops.input('targets', 'int32', ['M']), parts);
      return scoresInParts().map((part, index) => ops.logProbability(part, targets[index]!));
    },
    entropy: () => scoresInParts().map((part) => ops.entropy(part)),
    values: () => [valueHead(ops, config, states)],
  };
}

function cut<T>(ops: Ops<T>, x: T, parts: number): T[] {
  return parts === 1 ? [x] : ops.split(x, 0, parts);
}
