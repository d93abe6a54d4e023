/**
 * What a graph for WebGPU has in place of operations that ONNX Runtime 1.30's WebGPU provider has no kernel for, or a wrong kernel. A
 * node without a kernel runs on the CPU, without a warning, and its tensors travel through this process's memory at each run.
 * `npm run devices -- webgpu` fails for such a node. Each function says what it replaces, and why.
 */
import type { MatmulOptions } from '../ops.ts';
import type { GraphBuilder, Value } from './graph-builder.ts';
import { dataType } from './onnx-proto.ts';

/**
 * The operands whose plain MatMul is the product that the options ask for.
 * Replaces FusedMatMul: no kernel.
 */
export function matmulOperands(
  graph: GraphBuilder,
  [a, b]: readonly [Value, Value],
  { transposeA, transposeB, scale }: Required<Omit<MatmulOptions, 'exact'>>,
): [Value, Value] {
  const scaled = (x: Value) =>
    graph.node('Mul', [x, graph.constant('float32', [], [scale])], x.type, x.shape);
  // The operand with fewer unknown dimensions has fewer numbers to scale.
  const scalesB = unknownDims(b) < unknownDims(a);
  const left = scale !== 1 && !scalesB ? scaled(a) : a;
  const right = scale !== 1 && scalesB ? scaled(b) : b;
  return [transposeA ? transposed(graph, left) : left, transposeB ? transposed(graph, right) : right];
}

/**
 * log softmax(x) over the last axis: x − max(x) − log Σ exp(x − max(x)), which neither overflows nor takes the logarithm of 0.
 * Replaces LogSoftmax: no kernel.
 */
export function logSoftmax(graph: GraphBuilder, x: Value): Value {
  const column = x.shape.with(-1, 1);
  const reduce = (opType: string, x: Value) => graph.node(opType, [x, lastAxis(graph, x)], x.type, column);
  const shifted = graph.node('Sub', [x, reduce('ReduceMax', x)], x.type, x.shape);
  const sum = reduce('ReduceSum', graph.node('Exp', [shifted], x.type, x.shape));
  return graph.node('Sub', [shifted, graph.node('Log', [sum], x.type, column)], x.type, x.shape);
}

/**
 * The norm of a sum of two terms, whose node it takes back to compute the sum as well; undefined if another node reads the sum already.
 * Replaces Add and SimplifiedLayerNormalization: one node.
 */
export function normOfSum(
  graph: GraphBuilder,
  sum: Value,
  [terms, weight]: readonly [terms: readonly Value[], weight: Value],
  epsilon: number,
): Value | undefined {
  if (!graph.takeBack(sum)) return undefined;
  const none = { ...sum, name: '' };
  const outputs = [{ type: sum.type, shape: sum.shape }, none, none, sum];
  return graph.nodes('SkipSimplifiedLayerNormalization', [...terms, weight], outputs, { epsilon })[0]!;
}

/**
 * For the gradients of a norm: t = Σ x² + width · epsilon over the last axis, which stays with length 1, and √(width / t), by which the
 * norm multiplies x.
 * Replaces the second output of SimplifiedLayerNormalization: WebGPU's kernel writes the mean there, as LayerNormalization does
 * (since ONNX Runtime's pull request 24223).
 */
export function normFactors(
  graph: GraphBuilder,
  x: Value,
  epsilon: number,
): [total: Value, inverseRoot: Value] {
  const width = x.shape.at(-1) as number;
  const scalar = (value: number) => graph.constant('float32', [], [value]);
  const node = (opType: string, inputs: readonly Value[]) =>
    graph.node(opType, inputs, x.type, x.shape.with(-1, 1));
  const total = node('Add', [node('ReduceSumSquare', [x, lastAxis(graph, x)]), scalar(width * epsilon)]);
  return [total, node('Div', [scalar(Math.sqrt(width)), node('Sqrt', [total])])];
}

/** Attention by one kernel has heads whose widths are multiples of this number. */
export const headWidthUnit = 16;

/**
 * Attention of one new token of each row to itself and to the first lengths[b] positions of its past, and the past with the token's key
 * and value at position lengths[b], as {@link Ops.cachedAttention} describes. The kernel turns queries and keys as well, if tables of
 * rotary positions are given.
 * Replaces the twenty nodes that cached-attention.ts emits, and those that append to the cache: one node.
 */
export function groupQueryAttention(
  graph: GraphBuilder,
  [queries, keys, values, pastKeys, pastValues, lengths, room]: readonly Value[],
  tables: readonly Value[],
  attributes: { num_heads: number; kv_num_heads: number; scale: number; local_window_size: number },
): [mixed: Value, keys: Value, values: Value] {
  const { type, shape } = pastKeys!;
  const grown = { type, shape: shape.with(2, 'grown') };
  return graph.nodes(
    'GroupQueryAttention',
    [queries!, keys!, values!, pastKeys!, pastValues!, lengths!, room!, ...tables],
    [{ type, shape: queries!.shape }, grown, grown],
    { ...attributes, do_rotary: Number(tables.length > 0) },
  ) as [Value, Value, Value];
}

/**
 * Zeros in the shape of `x`, which the int64 vector `shape` holds.
 * Replaces ConstantOfShape: no kernel. As many zeros as hidden states would travel at each backward pass.
 */
export function zeros(graph: GraphBuilder, x: Value, shape: Value): Value {
  return graph.node('Expand', [graph.constant('float32', [], [0]), shape], 'float32', x.shape);
}

/**
 * 1 at the `count` largest numbers of each row, and 0 elsewhere: at those that are not below the number that is the largest once each larger
 * number is taken away.
 * Replaces TopK: no kernel.
 */
export function largest(graph: GraphBuilder, x: Value, count: number): Value {
  const lowest = graph.constant('float32', [], [-3e38]);
  const maximum = (x: Value) => graph.node('ReduceMax', [x, lastAxis(graph, x)], x.type, x.shape.with(-1, 1));
  const reaches = (least: Value) => graph.node('GreaterOrEqual', [x, least], 'bool', x.shape);
  let least = maximum(x);
  for (let taken = 1; taken < count; taken++)
    least = maximum(graph.node('Where', [reaches(least), lowest, x], x.type, x.shape));
  return graph.node('Cast', [reaches(least)], x.type, x.shape, { to: dataType.float32 });
}

function lastAxis(graph: GraphBuilder, { shape }: Value): Value {
  return graph.constant('int64', [1], [shape.length - 1]);
}

/** Pieces of one Split at most. The input and the pieces are storage buffers of one shader: WebGPU guarantees eight, an H100 has 16. */
export const maxPieces: number = 7;

/** Numbers in the smallest weight that {@link transposed} pays for: a launch costs more than the product of a smaller weight loses. */
export const minTransposed: number = 2 ** 16;

/**
 * The last two axes swapped.
 * Replaces Gemm's transB and FusedMatMul's: a product with a second operand [columns, inner] reads it across its rows. On an H100 it had
 * 6 TFLOP/s where the product with the transpose had 20.
 */
export function transposed(graph: GraphBuilder, x: Value): Value {
  const rank = x.shape.length;
  const perm = [...Array(rank - 2).keys(), rank - 1, rank - 2];
  const shape = perm.map((axis) => x.shape[axis]!);
  return graph.node('Transpose', [x], x.type, shape, { perm });
}

/** How many dimensions are known only when the program runs. */
function unknownDims({ shape }: Value): number {
  return shape.filter((dim) => typeof dim === 'string').length;
}
