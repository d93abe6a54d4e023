/**
 * What a graph for WebGPU has in place of operations that ONNX Runtime 1.30's WebGPU provider has no kernel for, or a wrong kernel. A
 * node without a kernel runs on the CPU, without a warning, and its tensors travel through this process's memory at each run.
 * `npm run devices -- webgpu` fails for such a node. Each function says what it replaces, and why.
 */
import type { MatmulOptions } from '../ops.ts';
import type { GraphBuilder, Value } from './graph-builder.ts';

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
 * 1 / sqrt(mean(x²) + epsilon) over the last axis, which stays with length 1.
 * Replaces the second output of SimplifiedLayerNormalization: WebGPU's kernel writes the mean there, as LayerNormalization does
 * (since ONNX Runtime's pull request 24223).
 */
export function inverseRoot(graph: GraphBuilder, x: Value, epsilon: number): Value {
  const column = x.shape.with(-1, 1);
  const scalar = (value: number) => graph.constant('float32', [], [value]);
  const node = (opType: string, inputs: readonly Value[]) => graph.node(opType, inputs, x.type, column);
  const squares = graph.node('Mul', [x, x], x.type, x.shape);
  const sum = node('ReduceSum', [squares, lastAxis(graph, x)]);
  const mean = node('Div', [sum, scalar(x.shape.at(-1) as number)]);
  return node('Div', [scalar(1), node('Sqrt', [node('Add', [mean, scalar(epsilon)])])]);
}

/**
 * Zeros in the shape of `x`, which the int64 vector `shape` holds.
 * Replaces ConstantOfShape: no kernel. As many zeros as hidden states would travel at each backward pass.
 */
export function zeros(graph: GraphBuilder, x: Value, shape: Value): Value {
  return graph.node('Expand', [graph.constant('float32', [], [0]), shape], 'float32', x.shape);
}

function lastAxis(graph: GraphBuilder, { shape }: Value): Value {
  return graph.constant('int64', [1], [shape.length - 1]);
}

/** The last two axes swapped. */
function transposed(graph: GraphBuilder, x: Value): Value {
  const rank = x.shape.length;
  const perm = [...Array(rank - 2).keys(), rank - 1, rank - 2];
  const shape = perm.map((axis) => x.shape[axis]!);
  return graph.node('Transpose', [x], x.type, shape, { perm });
}

/** How many dimensions are known only when the program runs. */
function unknownDims({ shape }: Value): number {
  return shape.filter((dim) => typeof dim === 'string').length;
}
