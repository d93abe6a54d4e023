/** The outputs of a learner for the action tokens of a padded batch: log-probabilities, entropies and values. */
import { batchContext } from '../model/batch-context.ts';
import { type DecoderOptions, decoder, headName, logits } from '../model/decoder.ts';
import type { ModelConfig } from '../model/model-config.ts';
import type { Ops } from '../runtime/ops.ts';
import type { Shapes } from '../runtime/shape.ts';
import { valueHead } from './critic.ts';
import type { PaddedBatch } from './padded-batch.ts';

export type TokenOutput = 'logprobs' | 'entropy' | 'values';
/** The gradient of a loss with respect to an output. */
export type TokenSlope = 'dLogprobs' | 'dEntropy' | 'dValues';

/** What a program needs to know of a padded batch when it is compiled. */
export type BatchKind = Pick<PaddedBatch, 'parts' | 'blocks' | 'branches' | 'chunks'>;

/** Hidden states [N, width] of a padded batch: int32 tokens and positions [B, T]. */
export function hiddenStates<T>(
  ops: Ops<T>,
  config: ModelConfig,
  kind: BatchKind,
  options?: DecoderOptions<T>,
): T {
  const tokens = ops.input('tokens', 'int32', ['B', 'T']);
  const positions = ops.input('positions', 'int32', ['B', 'T']);
  return decoder(ops, config, tokens, positions, batchContext(ops, config, kind), options);
}

/** Computes each layer again for its gradient, and keeps only its input. `trained` are the parameters with gradients. */
export function checkpointedLayers<T>(
  ops: Ops<T>,
  trained: Shapes,
): NonNullable<DecoderOptions<T>['computeLayer']> {
  return (layer, before, compute) => {
    const own = [...trained].filter(([name]) => name.includes(`.layers.${layer}.`));
    const inputs = own.map(([name, shape]) => ops.input(name, 'float32', shape));
    return ops.checkpoint([before], inputs, ([before]) => [compute(before!)])[0]!;
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
  const states = actionStates(ops, hidden, kind);
  const ofLogits = () => logitParts(ops, config, states, kind).map(({ cooled, compute }) => compute(cooled));
  const seen = names.every((name) => name === 'values') ? {} : joined(ops, ofLogits());
  return Object.fromEntries(
    names.map((name) => [name, name === 'values' ? valueHead(ops, config, states) : seen[name]!]),
  );
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
  const states = actionStates(ops, hidden, kind);
  const slopeOf = (name: TokenSlope) =>
    slopes.includes(name) ? ops.input(name, 'float32', ['M']) : undefined;
  const toValues = slopeOf('dValues');
  const terms = toValues ? [ops.sumAll(ops.mul(toValues, valueHead(ops, config, states)))] : [];
  if (!usesLogits(slopes)) return { loss: terms[0]! };
  const head = headName(config);
  const weights = trained.has(head) ? [ops.input(head, 'float32', trained.get(head)!)] : [];
  const [toLogprobs, toEntropy] = (['dLogprobs', 'dEntropy'] as const).map((name) => {
    const slope = slopeOf(name);
    return slope && cut(ops, slope, kind.parts);
  });
  const parts = logitParts(ops, config, states, kind).map(({ cooled, compute }, index) =>
    ops.weightedSum(cooled, weights, compute, [toLogprobs?.[index], toEntropy?.[index]]),
  );
  terms.push(...parts.map(({ sum }) => sum));
  const loss = terms.reduce((sum, term) => ops.add(sum, term));
  return {
    loss,
    ...joined(
      ops,
      parts.map(({ outputs }) => outputs),
    ),
  };
}

/** The outputs of a backward pass that uses logits. */
export const seenInBackward = ['logprobs', 'entropy'] as const;

export function usesLogits(slopes: readonly TokenSlope[]): boolean {
  return slopes.some((name) => name !== 'dValues');
}

/** The hidden states of the action tokens, [M, width]. */
function actionStates<T>(ops: Ops<T>, hidden: T, { parts, branches }: BatchKind): T {
  // Padding of several parts may repeat an index, and so may tokens that follow the same node.
  return ops.gatherRows(hidden, ops.input('where', 'int32', ['M']), { distinct: parts === 1 && !branches });
}

/** The pieces of the action tokens: states by the temperature, and what gives their log-probabilities and entropies. */
function logitParts<T>(
  ops: Ops<T>,
  config: ModelConfig,
  states: T,
  { parts }: BatchKind,
): { cooled: T; compute(cooled: T): T[] }[] {
  const inverseTemperature = ops.input('inverseTemperature', 'float32', []);
  const targets = cut(ops, ops.input('targets', 'int32', ['M']), parts);
  // Divide the hidden states instead of the logits: the head has no bias, so the result is the same for less work.
  return cut(ops, ops.mul(states, inverseTemperature), parts).map((cooled, index) => ({
    cooled,
    compute(cooled) {
      const scores = logits(ops, config, cooled);
      return [ops.logProbability(scores, targets[index]!), ops.entropy(scores)];
    },
  }));
}

/** The log-probabilities and entropies of all parts. */
function joined<T>(ops: Ops<T>, parts: readonly (readonly T[])[]): Record<string, T> {
  return Object.fromEntries(
    seenInBackward.map((name, index) => {
      const pieces = parts.map((part) => part[index]!);
      return [name, pieces.length === 1 ? pieces[0]! : ops.concat(pieces, 0)];
    }),
  );
}

function cut<T>(ops: Ops<T>, x: T, parts: number): T[] {
  return parts === 1 ? [x] : ops.split(x, 0, parts);
}
