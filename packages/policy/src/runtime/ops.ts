/**
 * Ops: the tensor operations that a model is written in. A runtime implements them once; models and losses
 * written over them run on every runtime.
 */

/** A dimension: a number, or a name (`'B'`, `'T'`) for a number that is known only when the program runs. */
export type Dim = number | string;
export type ElementType = 'float32' | 'int32';

export interface MatmulOptions {
  transposeA?: boolean;
  transposeB?: boolean;
  scale?: number;
  exact?: boolean;
}

/** S new tokens of each of B rows, and the row's past. */
export interface CachedAttention<T> {
  /** [B, H, S, D], where H is a multiple of K. */
  queries: T;
  /** [B, K, S, D] */
  keys: T;
  values: T;
  /** [B, K, P, D], of which the first lengths[b] positions count. */
  pastKeys: T;
  pastValues: T;
  /** int32 [B] */
  lengths: T;
  /** int32 [1]: at least S more than any of the lengths. */
  room: T;
  /** How many positions the token attends to, its own included. Absent: all. */
  window?: number | undefined;
}

/** S new tokens of each of B rows, whose pasts are rows of a pool that the attention writes to. */
export interface PooledAttention<T> {
  /** [B, H, S, D], where H is a multiple of K. */
  queries: T;
  /** [B, K, S, D] */
  keys: T;
  values: T;
  /** [N, K, C, D] */
  pooledKeys: T;
  pooledValues: T;
  /** int32 [B]: rows of the pool. A range of rows in ascending order needs no copy. */
  rows: T;
  /** int32 [B]: how many positions of each row count. */
  lengths: T;
  /** int32 [2]: the rows and the positions that the pool should have at least. */
  room: T;
  /** int32 [F, 4]: copies to make first, one after another: from a row, to a row, from a position on, so many positions. */
  copies: T;
  /** int32 [1]: how many first positions each row has in common with its leader. */
  shared: T;
  /** int32 [B]: the index of each row's leader among the B rows. A leader is its own. */
  leaders: T;
  /** How many positions the token attends to, its own included. Absent: all. */
  window?: number | undefined;
}

/** `T` is a runtime's handle of a tensor. Broadcasting follows NumPy. */
export interface Ops<T> {
  /** A tensor given at run time. */
  input(name: string, type: ElementType, shape: readonly Dim[]): T;
  scalar(value: number): T;
  shapeOf(x: T): readonly Dim[];

  add(a: T, b: T): T;
  sub(a: T, b: T): T;
  mul(a: T, b: T): T;
  div(a: T, b: T): T;
  neg(x: T): T;
  exp(x: T): T;
  sqrt(x: T): T;
  /** log(1 / (1 + exp(−x))), without overflow. */
  logSigmoid(x: T): T;
  /** max(x, 0), without a gradient. */
  relu(x: T): T;
  /** Sum over `axes`, which are kept with length 1. */
  sum(x: T, axes: readonly number[]): T;
  /** Sum over all elements, shape []. */
  sumAll(x: T): T;

  /**
   * [.., M, K] × [.., K, N] → [.., M, N], times `scale`. The last two axes of either operand may be swapped first. An `exact`
   * product is computed in float32 at any precision of the runtime, and has no gradient.
   */
  matmul(a: T, b: T, options?: MatmulOptions): T;
  /** [N, in] × weight [out, in]ᵀ + bias [out] → [N, out]. */
  linear(x: T, weight: T, bias?: T): T;
  /** A weight [out, in] in the layout that `linear` reads fastest, for an input that is `laidOut`. Only where the runtime `laysOut` weights. */
  layOut?(weight: T): T;

  /** Infers one dimension, if its name occurs neither in `x` nor in an input. */
  reshape(x: T, shape: readonly Dim[]): T;
  transpose(x: T, order: readonly number[]): T;
  concat(parts: readonly T[], axis: number): T;
  /** Splits `x` along `axis` into a number of equal pieces, or into pieces with the lengths of the given tensors. */
  split(x: T, axis: number, into: number | readonly T[]): T[];
  /** Rows of `table` [V, D] at int32 `ids` [..] → [.., D]. With `distinct` ids, gradients of rows need not be summed. */
  gatherRows(table: T, ids: T, options?: { distinct?: boolean }): T;

  /** x [N, D] with each of `parts` [M, D] added to the rows at its int32 `ids` [M], which are distinct within a part. */
  addRows(x: T, ids: readonly T[], parts: readonly T[]): T;
  /** For each column of x [N, E], the int32 ids of the rows that are not 0 there. A runtime that must know each length beforehand lacks it. */
  nonZeroRows?(x: T): T[];

  /** x [N, E] with 0 in the place of all but the `count` largest numbers of each row. Of equal numbers, a runtime keeps any, or all. */
  keepLargest(x: T, count: number): T;
  /** Over the last axis. */
  softmax(x: T): T;
  /** log softmax(logits [N, V]) at int32 `ids` [N] → [N]. */
  logProbability(logits: T, ids: T): T;
  /** Entropy in nats of softmax(logits [N, V]) → [N]. */
  entropy(logits: T): T;
  /** x · weight / sqrt(mean(x²) + epsilon), over the last axis (arXiv 1910.07467). */
  rmsNorm(x: T, weight: T, epsilon: number): T;
  /**
   * Rotary position embedding (arXiv 2104.09864, half-split layout as in Hugging Face models): x [B, H, T, D],
   * int32 positions [B, T], cos and sin [max position, D/2].
   */
  rotary(x: T, positions: T, cos: T, sin: T): T;
  /**
   * softmax(queries · keysᵀ · scale + mask) · values: queries [B, H, S, D], keys and values [B, K, T, D], where H is a multiple of K
   * and neighbouring heads share keys (arXiv 2305.13245), and a mask that broadcasts to [B, H, S, T] and has no gradient.
   */
  attention(queries: T, keys: T, values: T, mask: T, scale: number): T;
  /** Attention of positions to themselves and those before them, without a mask. A runtime for which it saves nothing lacks it. */
  causalAttention?(queries: T, keys: T, values: T, scale: number): T;
  /**
   * Attention of positions to themselves and their ancestors in trees, in depth-first order: float32 ends [B, T], the place after the last
   * descendant of each position. A runtime for which it saves nothing lacks it.
   */
  treeAttention?(queries: T, keys: T, values: T, ends: T, scale: number): T;
  /**
   * Attention to a past that each row has a length of: the outputs [B, H, S, D], and the past with the new keys and values from position
   * lengths[b] on, for max(P, room) positions. It may take the past's memory. No gradient. A runtime without such an operation lacks
   * it, or returns undefined.
   */
  cachedAttention?(given: CachedAttention<T>, scale: number): [mixed: T, keys: T, values: T] | undefined;
  /**
   * Attention to rows of a pool: the outputs [B, H, S, D], and the pools with the new keys and values from position lengths[b] on, in their
   * own memory if they are large enough. No gradient. A runtime whose programs never overwrite their inputs lacks it.
   */
  pooledAttention?(given: PooledAttention<T>, scale: number): [mixed: T, keys: T, values: T];
  /** SwiGLU's product (arXiv 2002.05202): gate · sigmoid(gate) · up, for two tensors of one shape. */
  swiglu(gate: T, up: T): T;

  /**
   * The outputs of `compute` for `xs`. A runtime may compute again for the gradients what depends on these, and keep only them until then
   * (arXiv 1604.06174).
   * @param trained The inputs of the program that `compute` uses and that have gradients.
   */
  checkpoint(xs: readonly T[], trained: readonly T[], compute: (xs: readonly T[]) => T[]): T[];
  /**
   * Σ slopes[i] · outputs[i] of `compute` for `x`, and the outputs, which have no gradients of their own. The gradients of the sum are
   * known before the rest of the loss is, so a runtime may compute them at once, and keep nothing else.
   * @param trained The inputs of the program that `compute` uses and that have gradients.
   */
  weightedSum(
    x: T,
    trained: readonly T[],
    compute: (x: T) => T[],
    slopes: readonly (T | undefined)[],
  ): { sum: T; outputs: T[] };
}

/** A computation over any runtime's tensors: named outputs from the inputs it declares. */
export type Program = <T>(ops: Ops<T>) => Record<string, T>;
