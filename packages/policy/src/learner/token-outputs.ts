/** The outputs of a learner for the action tokens of a padded batch: log-probabilities, entropies and values. */
import { batchAttention } from '../model/batch-attention.ts';
import { type DecoderOptions, decoder, headName, logits } from '../model/decoder.ts';
import type { ModelConfig } from '../model/model-config.ts';
import type { Ops } from '../runtime/ops.ts';
import type { Shapes } from '../runtime/shape.ts';
import { valueHead } from './critic.ts';
import type { PaddedBatch } from './padded-batch.ts';

export type TokenOutput = 'logprobs' | 'entropy' | 'values';
/** The gradient of a loss with respect to an output. */
export type TokenSlope = 'dLogprobs' | 'dEntropy' | 'dValues';

const outputOf: Record<TokenSlope, TokenOutput> = {
  dLogprobs: 'logprobs',
  dEntropy: 'entropy',
  dValues: 'values',
};

/** What a program needs to know of a padded batch when it is compiled. */
export type BatchKind = Pick<PaddedBatch, 'parts' | 'blocks' | 'branches'>;

/** Hidden states [N, width] of a padded batch: int32 tokens and positions [B, T]. */
export function hiddenStates<T>(
  ops: Ops<T>,
  config: ModelConfig,
  kind: BatchKind,
  options?: DecoderOptions<T>,
): T {
  const tokens = ops.input('tokens', 'int32', ['B', 'T']);
  const positions = ops.input('positions', 'int32', ['B', 'T']);
  return decoder(ops, config, tokens, positions, batchAttention(ops, config, kind.blocks), options);
}

/** Computes each layer again for its gradient, and keeps only its input. `trained` are the parameters with gradients. */
export function checkpointedLayers<T>(
  ops: Ops<T>,
  trained: Shapes,
): NonNullable<DecoderOptions<T>['computeLayer']> {
  return (layer, before, compute) => {
    const own = [...trained].filter(([name]) => name.includes(`.layers.${layer}.`));
    const inputs = own.map(([name, shape]) => ops.input(name, 'float32', shape));
    return ops.checkpoint(before, inputs, (before) => [compute(before)])[0]!;
  };
}

/** The named outputs, [M] each, from hidden states [N, width]. Logits are computed in parts along M to bound their memory. */
export function tokenOutputs<T>(
  ops: Ops<T>,
  config: ModelConfig,
  hidden: T,
  names: readonly TokenOutput[],
  kind: BatchKind,
): Record<string, T> {
  const outputs = inParts(ops, config, hidden, kind, new Map());
  return Object.fromEntries(names.map((name) => [name, joined(ops, outputs[name]())]));
}

function joined<T>(ops: Ops<T>, pieces: readonly T[]): T {
  return pieces.length === 1 ? pieces[0]! : ops.concat([...pieces], 0);
}

/**
 * `loss`: Σ slope · output over the inputs named `slopes`, [M] each. Its gradient by the `trained` parameters is what `backward`
 * accumulates. Where the loss uses logits, log-probabilities and entropies come with it, because they cost next to nothing there.
 */
export function linearFunctional<T>(
  ops: Ops<T>,
  config: ModelConfig,
  hidden: T,
  slopes: readonly TokenSlope[],
  kind: BatchKind,
  trained: Shapes,
): Record<string, T> {
  const outputs = inParts(ops, config, hidden, kind, trained);
  const terms = slopes.flatMap((name) => {
    const pieces = outputs[outputOf[name]]();
    const slope = cut(ops, ops.input(name, 'float32', ['M']), pieces.length);
    return pieces.map((piece, index) => ops.sumAll(ops.mul(slope[index]!, piece)));
  });
  const loss = terms.reduce((sum, term) => ops.add(sum, term));
  const seen = usesLogits(slopes) ? seenInBackward : [];
  return { loss, ...Object.fromEntries(seen.map((name) => [name, joined(ops, outputs[name]())])) };
}

/** The outputs of a backward pass that uses logits. */
export const seenInBackward = ['logprobs', 'entropy'] as const;

export function usesLogits(slopes: readonly TokenSlope[]): boolean {
  return slopes.some((name) => name !== 'dValues');
}

/**
 * Each output in pieces along M. The functions add an output to the graph when they are called. Several parts are checkpointed, so that
 * only one part's logits are in memory at a time.
 */
function inParts<T>(
  ops: Ops<T>,
  config: ModelConfig,
  hidden: T,
  { parts, branches }: BatchKind,
  trained: Shapes,
): Record<TokenOutput, () => T[]> {
  const where = ops.input('where', 'int32', ['M']);
  // Padding of several parts may repeat an index, and so may tokens that follow the same node.
  const states = ops.gatherRows(hidden, where, { distinct: parts === 1 && !branches });
  const ofLogits = once(() => {
    const inverseTemperature = ops.input('inverseTemperature', 'float32', []);
    const targets = cut(ops, ops.input('targets', 'int32', ['M']), parts);
    const head = headName(config);
    const weights = trained.has(head) ? [ops.input(head, 'float32', trained.get(head)!)] : [];
    // Divide the hidden states instead of the logits: the head has no bias, so the result is the same for less work.
    return cut(ops, ops.mul(states, inverseTemperature), parts).map((cooled, index) => {
      const compute = (cooled: T) => {
        const scores = logits(ops, config, cooled);
        return [ops.logProbability(scores, targets[index]!), ops.entropy(scores)];
      };
      return parts === 1 ? compute(cooled) : ops.checkpoint(cooled, weights, compute);
    });
  });
  return {
    logprobs: () => ofLogits().map(([logprobs]) => logprobs!),
    entropy: () => ofLogits().map(([, entropy]) => entropy!),
    values: once(() => [valueHead(ops, config, states)]),
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function cut<T>(ops: Ops<T>, x: T, parts: number): T[] {
  return parts === 1 ? [x] : ops.split(x, 0, parts);
}
