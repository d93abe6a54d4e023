/**
 * Ops that TensorFlow.js computes immediately. Gradients are TensorFlow.js's own, except if a backend lacks one, or if a formula
 * for several operations keeps fewer tensors until the backward pass.
 */
import type { GradSaveFunc, Tensor as TfTensor } from '@tensorflow/tfjs';
import { getOrInsert } from '../get-or-insert.ts';
import type { Dim, Ops } from '../ops.ts';
import { ResidentTensor } from '../resident-tensor.ts';
import type { Tensor, Tensors } from '../runtime.ts';
import type { Tfjs } from './load-tfjs.ts';

/** One run of a program. Dimensions are numbers; names are resolved from the earlier inputs. */
export interface TfjsOps extends Ops<TfTensor> {
  /** A given tensor on the backend. */
  given(name: string): TfTensor;
}

export function tfjsOps(tf: Tfjs, tensors: Tensors): TfjsOps {
  const inputs = new Map<string, TfTensor>();
  const dims = new Map<string, number>();
  /** The log softmax of each logits tensor, shared by log-probabilities and entropies. */
  const logs = new Map<TfTensor, TfTensor>();
  const logSoftmax = (logits: TfTensor) => getOrInsert(logs, logits, () => tf.logSoftmax(logits));
  /** The shape in numbers; −1 is the dimension to infer. */
  const resolve = (shape: readonly Dim[]) =>
    shape.map((dim) => (typeof dim === 'number' ? dim : (dims.get(dim) ?? -1)));
  const given = (name: string) =>
    getOrInsert(inputs, name, () => {
      const tensor = tensors[name];
      if (!tensor) throw new RangeError(`Input "${name}" is missing.`);
      return toTf(tf, tensor);
    });

  return {
    given,

    /** @throws RangeError for a missing input, or for a wrong shape. */
    input(name, type, shape) {
      const value = given(name);
      for (const [axis, dim] of shape.entries()) {
        if (typeof dim === 'string' && !dims.has(dim)) dims.set(dim, value.shape[axis]!);
      }
      const expected = resolve(shape);
      if (value.dtype !== type || `${value.shape}` !== `${expected}`) {
        const found = `${value.dtype} [${value.shape}]`;
        throw new RangeError(`Input "${name}" is ${found} instead of ${type} [${expected}].`);
      }
      return value;
    },

    shapeOf: (x) => x.shape,
    scalar: (value) => tf.scalar(value),
    add: (a, b) => tf.add(a, b),
    sub: (a, b) => tf.sub(a, b),
    mul: (a, b) => tf.mul(a, b),
    div: (a, b) => tf.div(a, b),
    neg: (x) => tf.neg(x),
    exp: (x) => tf.exp(x),
    sqrt: (x) => tf.sqrt(x),
    logSigmoid: (x) => tf.neg(tf.softplus(tf.neg(x))),
    relu: (x) => tf.relu(x),
    softmax: (x) => tf.softmax(x),
    sum: (x, axes) => tf.sum(x, [...axes], true),
    // Row by row: WebAssembly adds numbers one by one, and loses the third digit over millions of numbers.
    sumAll: (x) => tf.sum(x.rank > 1 ? tf.sum(x, -1) : x),
    reshape: (x, shape) => tf.reshape(x, resolve(shape)),
    transpose: (x, order) => tf.transpose(x, [...order]),
    concat: (parts, axis) => tf.concat([...parts], axis),
    split: (x, axis, into) =>
      tf.split(x, typeof into === 'number' ? into : into.map(({ shape }) => shape.at(axis)!), axis),

    matmul(a, b, { transposeA = false, transposeB = false, scale = 1 } = {}) {
      const scaled = scale === 1 ? a : tf.mul(a, scale);
      if (!transposesFirst(tf)) return tf.matMul(scaled, b, transposeA, transposeB);
      return withGradient(
        tf,
        [scaled, b],
        () => ({ value: product(tf, scaled, b, transposeA, transposeB), saved: [scaled, b] }),
        (g, a, b) => [
          transposeA ? product(tf, b, g, transposeB, true) : product(tf, g, b, false, !transposeB),
          transposeB ? product(tf, g, a, true, transposeA) : product(tf, a, g, !transposeA, false),
        ],
      );
    },

    linear(x, weight, bias) {
      const y = this.matmul(x, weight, { transposeB: true });
      return bias ? tf.add(y, bias) : y;
    },

    gatherRows: (table, ids) =>
      // TensorFlow.js's own gradient needs unsortedSegmentSum, which WebAssembly lacks.
      withGradient(
        tf,
        [table],
        () => ({ value: tf.gather(table, ids), saved: [ids] }),
        (g, ids) => {
          const rows = tf.reshape(g, [ids.size, ...table.shape.slice(1)]);
          return [tf.scatterND(tf.reshape(ids, [-1, 1]), rows, table.shape)];
        },
      ),

    addRows: (x, ids, parts) =>
      parts.reduce(
        (sum, part, index) =>
          withGradient(
            tf,
            [sum, part],
            () => {
              const spread = tf.scatterND(tf.expandDims(ids[index]!, 1), part, x.shape);
              return { value: tf.add(sum, spread), saved: [ids[index]!] };
            },
            (g, ids) => [g, tf.gather(g, ids)],
          ),
        x,
      ),

    keepLargest: (x, count) =>
      withGradient(
        tf,
        [x],
        () => {
          const least = tf.slice(tf.topk(x, count).values, [0, count - 1], [-1, 1]);
          const kept = tf.cast(tf.greaterEqual(x, least), 'float32');
          return { value: tf.mul(x, kept), saved: [kept] };
        },
        (g, kept) => [tf.mul(g, kept)],
      ),

    logProbability(logits, ids) {
      const places = tf.stack([tf.range(0, ids.size, 1, 'int32'), ids], 1);
      const logs = logSoftmax(logits);
      return withGradient(
        tf,
        [logits],
        () => ({ value: tf.gatherND(logs, places), saved: [logs, places] }),
        (g, logs, places) => {
          const spread = tf.mul(tf.exp(logs), tf.neg(tf.expandDims(g, 1)));
          return [tf.add(spread, tf.scatterND(places, g, logits.shape))];
        },
      );
    },

    entropy(logits) {
      const logs = logSoftmax(logits);
      return withGradient(
        tf,
        [logits],
        () => {
          const value = tf.neg(tf.sum(tf.mul(tf.exp(logs), logs), -1));
          return { value, saved: [logs, value] };
        },
        (g, logs, entropy) => {
          const share = tf.mul(tf.exp(logs), tf.neg(tf.expandDims(g, 1)));
          return [tf.mul(share, tf.add(logs, tf.expandDims(entropy, 1)))];
        },
      );
    },

    rmsNorm: (x, weight, epsilon) =>
      withGradient(
        tf,
        [x, weight],
        () => {
          const inverse = tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), epsilon));
          return { value: tf.mul(tf.mul(x, inverse), weight), saved: [x, weight, inverse] };
        },
        (g, x, weight, inverse) => {
          const normalised = tf.mul(x, inverse);
          const product = tf.mul(g, normalised);
          const mean = tf.mean(tf.mul(product, weight), -1, true);
          const toX = tf.sub(tf.mul(g, weight), tf.mul(normalised, mean));
          return [tf.mul(toX, inverse), tf.sum(product, [...x.shape.keys()].slice(0, -1))];
        },
      ),

    rotary(x, positions, cos, sin) {
      // [B, 1, T, D/2]: the heads share their angles.
      const rows = (table: TfTensor) => tf.expandDims(tf.gather(table, positions), 1);
      const turned = (x: TfTensor, c: TfTensor, s: TfTensor) => {
        const [first, second] = tf.split(x, 2, -1) as [TfTensor, TfTensor];
        const left = tf.sub(tf.mul(first, c), tf.mul(second, s));
        return tf.concat([left, tf.add(tf.mul(second, c), tf.mul(first, s))], -1);
      };
      return withGradient(
        tf,
        [x],
        () => {
          const [c, s] = [rows(cos), rows(sin)];
          return { value: turned(x, c, s), saved: [c, s] };
        },
        // The transpose of a rotation is the inverse rotation.
        (g, c, s) => [turned(g, c, tf.neg(s))],
      );
    },

    attention(queries, keys, values, mask, scale) {
      // The queries of heads that share keys are rows of one product.
      const headed = (x: TfTensor, heads: number) => tf.reshape(x, [x.shape[0]!, heads, -1, x.shape[3]!]);
      const grouped = (x: TfTensor) => headed(x, keys.shape[1]!);
      const ungrouped = (x: TfTensor) => headed(x, queries.shape[1]!);
      return withGradient(
        tf,
        [queries, keys, values],
        () => {
          const asked = grouped(queries);
          const scores = ungrouped(product(tf, tf.mul(asked, scale), keys, false, true));
          const probabilities = grouped(tf.softmax(tf.add(scores, mask)));
          const mixed = product(tf, probabilities, values, false, false);
          return { value: ungrouped(mixed), saved: [asked, keys, values, probabilities, mixed] };
        },
        (given, asked, keys, values, probabilities, mixed) => {
          const g = grouped(given);
          // Σ over T of dP·P equals Σ over D of dY·Y (arXiv 2205.14135), a much smaller sum.
          const inner = tf.mul(tf.sum(tf.mul(g, mixed), -1, true), scale);
          const toProbabilities = product(tf, tf.mul(g, scale), values, false, true);
          const toScores = tf.mul(probabilities, tf.sub(toProbabilities, inner));
          return [
            ungrouped(product(tf, toScores, keys, false, false)),
            product(tf, toScores, asked, true, false),
            product(tf, probabilities, g, true, false),
          ];
        },
      );
    },

    // TensorFlow.js frees what `compute` takes from outside before gradients are computed.
    checkpoint: (xs, _trained, compute) => compute(xs),

    weightedSum(x, _trained, compute, slopes) {
      const outputs = compute(x);
      const terms = outputs.flatMap((output, index) =>
        slopes[index] ? [tf.sum(tf.mul(slopes[index], output)) as TfTensor] : [],
      );
      return { sum: terms.reduce((sum, term) => tf.add(sum, term)), outputs };
    },

    swiglu: (gate, up) =>
      withGradient(
        tf,
        [gate, up],
        () => {
          const sigmoid = tf.sigmoid(gate);
          const silu = tf.mul(gate, sigmoid);
          const value = tf.mul(silu, up);
          return { value, saved: [sigmoid, silu, up, value] };
        },
        (g, sigmoid, silu, up, value) => {
          const slope = tf.add(value, tf.mul(sigmoid, tf.sub(up, value)));
          return [tf.mul(g, slope), tf.mul(g, silu)];
        },
      ),
  };
}

type Saved = [TfTensor, TfTensor, TfTensor, TfTensor, TfTensor];

/** Computes a value, and the gradients of `inputs` from the value's gradient and the saved tensors. */
function withGradient(
  tf: Tfjs,
  inputs: readonly TfTensor[],
  forward: () => { value: TfTensor; saved: TfTensor[] },
  backward: (g: TfTensor, ...saved: Saved) => TfTensor[],
): TfTensor {
  const operation = tf.customGrad((...given: (TfTensor | GradSaveFunc)[]) => {
    const { value, saved } = forward();
    (given.at(-1) as GradSaveFunc)(saved);
    const gradFunc = (g: TfTensor, saved: TfTensor[]) => tf.tidy(() => backward(g, ...(saved as Saved)));
    return { value, gradFunc };
  });
  return operation(...inputs);
}

/** On WebAssembly, multiplying with transposed operands is five to ten times slower than transposing them first. */
function transposesFirst(tf: Tfjs): boolean {
  return tf.getBackend() === 'wasm';
}

/** A product without a gradient. */
function product(tf: Tfjs, a: TfTensor, b: TfTensor, transposeA: boolean, transposeB: boolean): TfTensor {
  if (!transposesFirst(tf)) return tf.matMul(a, b, transposeA, transposeB);
  const swapped = (x: TfTensor, swap: boolean) => {
    if (!swap) return x;
    const axes = [...x.shape.keys()];
    return tf.transpose(x, [...axes.slice(0, -2), x.rank - 1, x.rank - 2]);
  };
  return tf.matMul(swapped(a, transposeA), swapped(b, transposeB));
}

/** The tensor on the backend. Within `tidy`, a tensor that this function uploads is disposed again. */
export function toTf(tf: Tfjs, value: Tensor): TfTensor {
  if (value instanceof ResidentTensor) return value.handle;
  const { data, dims } = value;
  return tf.tensor(data, [...dims], data instanceof Float32Array ? 'float32' : 'int32');
}
