/**
 * Ops that TensorFlow.js computes immediately. Gradients are TensorFlow.js's own, except if a backend lacks one, or if a formula
 * for several operations keeps fewer tensors until the backward pass.
 */
import type { GradSaveFunc, Tensor as TfTensor } from '@tensorflow/tfjs';
import type { Dim, ElementType, Ops } from '../ops.ts';
import { ResidentTensor } from '../resident-tensor.ts';
import type { Tensor, Tensors } from '../runtime.ts';
import type { Tfjs } from './load-tfjs.ts';

/** One run of a program. Dimensions are numbers; names are resolved from the earlier inputs. */
export class TfjsOps implements Ops<TfTensor> {
  readonly #tf: Tfjs;
  readonly #given: Tensors;
  readonly #inputs: Map<string, TfTensor> = new Map();
  readonly #dims: Map<string, number> = new Map();
  /** The log softmax of each logits tensor, shared by log-probabilities and entropies. */
  readonly #logs: Map<TfTensor, TfTensor> = new Map();

  constructor(tf: Tfjs, given: Tensors) {
    this.#tf = tf;
    this.#given = given;
  }

  /** @throws RangeError for a missing input, or for a wrong shape. */
  input(name: string, type: ElementType, shape: readonly Dim[]): TfTensor {
    const value = this.given(name);
    for (const [axis, dim] of shape.entries()) {
      if (typeof dim === 'string' && !this.#dims.has(dim)) this.#dims.set(dim, value.shape[axis]!);
    }
    const expected = this.#resolve(shape);
    if (value.dtype !== type || `${value.shape}` !== `${expected}`) {
      const found = `${value.dtype} [${value.shape}]`;
      throw new RangeError(`Input "${name}" is ${found} instead of ${type} [${expected}].`);
    }
    return value;
  }

  /** A given tensor on the backend. */
  given(name: string): TfTensor {
    let value = this.#inputs.get(name);
    if (!value) {
      const tensor = this.#given[name];
      if (!tensor) throw new RangeError(`Input "${name}" is missing.`);
      value = toTf(this.#tf, tensor);
      this.#inputs.set(name, value);
    }
    return value;
  }

  scalar(value: number): TfTensor {
    return this.#tf.scalar(value);
  }

  shapeOf(x: TfTensor): readonly number[] {
    return x.shape;
  }

  add(a: TfTensor, b: TfTensor): TfTensor {
    return this.#tf.add(a, b);
  }

  sub(a: TfTensor, b: TfTensor): TfTensor {
    return this.#tf.sub(a, b);
  }

  mul(a: TfTensor, b: TfTensor): TfTensor {
    return this.#tf.mul(a, b);
  }

  div(a: TfTensor, b: TfTensor): TfTensor {
    return this.#tf.div(a, b);
  }

  neg(x: TfTensor): TfTensor {
    return this.#tf.neg(x);
  }

  exp(x: TfTensor): TfTensor {
    return this.#tf.exp(x);
  }

  sqrt(x: TfTensor): TfTensor {
    return this.#tf.sqrt(x);
  }

  sum(x: TfTensor, axes: readonly number[]): TfTensor {
    return this.#tf.sum(x, [...axes], true);
  }

  sumAll(x: TfTensor): TfTensor {
    // Row by row: WebAssembly adds numbers one by one, and loses the third digit over millions of numbers.
    return this.#tf.sum(x.rank > 1 ? this.#tf.sum(x, -1) : x);
  }

  matmul(
    a: TfTensor,
    b: TfTensor,
    {
      transposeA = false,
      transposeB = false,
      scale = 1,
    }: { transposeA?: boolean; transposeB?: boolean; scale?: number } = {},
  ): TfTensor {
    const scaled = scale === 1 ? a : this.#tf.mul(a, scale);
    if (!this.#transposesFirst) return this.#tf.matMul(scaled, b, transposeA, transposeB);
    return this.#withGradient(
      [scaled, b],
      () => ({ value: this.#product(scaled, b, transposeA, transposeB), saved: [scaled, b] }),
      (g, a, b) => [
        transposeA ? this.#product(b, g, transposeB, true) : this.#product(g, b, false, !transposeB),
        transposeB ? this.#product(g, a, true, transposeA) : this.#product(a, g, !transposeA, false),
      ],
    );
  }

  linear(x: TfTensor, weight: TfTensor, bias?: TfTensor): TfTensor {
    const product = this.matmul(x, weight, { transposeB: true });
    return bias ? this.#tf.add(product, bias) : product;
  }

  reshape(x: TfTensor, shape: readonly Dim[]): TfTensor {
    return this.#tf.reshape(x, this.#resolve(shape));
  }

  transpose(x: TfTensor, order: readonly number[]): TfTensor {
    return this.#tf.transpose(x, [...order]);
  }

  concat(parts: readonly TfTensor[], axis: number): TfTensor {
    return this.#tf.concat([...parts], axis);
  }

  split(x: TfTensor, axis: number, into: number | readonly TfTensor[]): TfTensor[] {
    const sizes = typeof into === 'number' ? into : into.map(({ shape }) => shape.at(axis)!);
    return this.#tf.split(x, sizes, axis);
  }

  gatherRows(table: TfTensor, ids: TfTensor): TfTensor {
    // TensorFlow.js's own gradient needs unsortedSegmentSum, which WebAssembly lacks.
    return this.#withGradient(
      [table],
      () => ({ value: this.#tf.gather(table, ids), saved: [ids] }),
      (g, ids) => {
        const rows = this.#tf.reshape(g, [ids.size, ...table.shape.slice(1)]);
        return [this.#tf.scatterND(this.#tf.reshape(ids, [-1, 1]), rows, table.shape)];
      },
    );
  }

  softmax(x: TfTensor): TfTensor {
    return this.#tf.softmax(x);
  }

  logProbability(logits: TfTensor, ids: TfTensor): TfTensor {
    const rows = this.#tf.range(0, ids.size, 1, 'int32');
    const places = this.#tf.stack([rows, ids], 1);
    const logs = this.#logSoftmax(logits);
    return this.#withGradient(
      [logits],
      () => ({ value: this.#tf.gatherND(logs, places), saved: [logs, places] }),
      (g, logs, places) => {
        const spread = this.#tf.mul(this.#tf.exp(logs), this.#tf.neg(this.#tf.expandDims(g, 1)));
        return [this.#tf.add(spread, this.#tf.scatterND(places, g, logits.shape))];
      },
    );
  }

  entropy(logits: TfTensor): TfTensor {
    const logs = this.#logSoftmax(logits);
    return this.#withGradient(
      [logits],
      () => {
        const value = this.#tf.neg(this.#tf.sum(this.#tf.mul(this.#tf.exp(logs), logs), -1));
        return { value, saved: [logs, value] };
      },
      (g, logs, entropy) => {
        const share = this.#tf.mul(this.#tf.exp(logs), this.#tf.neg(this.#tf.expandDims(g, 1)));
        return [this.#tf.mul(share, this.#tf.add(logs, this.#tf.expandDims(entropy, 1)))];
      },
    );
  }

  rmsNorm(x: TfTensor, weight: TfTensor, epsilon: number): TfTensor {
    return this.#withGradient(
      [x, weight],
      () => {
        const meanSquare = this.#tf.mean(this.#tf.square(x), -1, true);
        const inverse = this.#tf.rsqrt(this.#tf.add(meanSquare, epsilon));
        return { value: this.#tf.mul(this.#tf.mul(x, inverse), weight), saved: [x, weight, inverse] };
      },
      (g, x, weight, inverse) => {
        const normalised = this.#tf.mul(x, inverse);
        const product = this.#tf.mul(g, normalised);
        const mean = this.#tf.mean(this.#tf.mul(product, weight), -1, true);
        const toX = this.#tf.sub(this.#tf.mul(g, weight), this.#tf.mul(normalised, mean));
        return [this.#tf.mul(toX, inverse), this.#tf.sum(product, [...x.shape.keys()].slice(0, -1))];
      },
    );
  }

  rotary(x: TfTensor, positions: TfTensor, cos: TfTensor, sin: TfTensor): TfTensor {
    // [B, 1, T, D/2]: the heads share their angles.
    const rows = (table: TfTensor) => this.#tf.expandDims(this.#tf.gather(table, positions), 1);
    const turned = (x: TfTensor, c: TfTensor, s: TfTensor) => {
      const [first, second] = this.#tf.split(x, 2, -1) as [TfTensor, TfTensor];
      return this.#tf.concat(
        [
          this.sub(this.mul(first, c), this.mul(second, s)),
          this.add(this.mul(second, c), this.mul(first, s)),
        ],
        -1,
      );
    };
    return this.#withGradient(
      [x],
      () => {
        const [c, s] = [rows(cos), rows(sin)];
        return { value: turned(x, c, s), saved: [c, s] };
      },
      // The transpose of a rotation is the inverse rotation.
      (g, c, s) => [turned(g, c, this.#tf.neg(s))],
    );
  }

  attention(queries: TfTensor, keys: TfTensor, values: TfTensor, mask: TfTensor, scale: number): TfTensor {
    return this.#withGradient(
      [queries, keys, values],
      () => {
        const scores = this.#product(this.#tf.mul(queries, scale), keys, false, true);
        const probabilities = this.#tf.softmax(this.#tf.add(scores, mask));
        const value = this.#product(probabilities, values, false, false);
        return { value, saved: [queries, keys, values, probabilities, value] };
      },
      (g, queries, keys, values, probabilities, value) => {
        // Σ over T of dP·P equals Σ over D of dY·Y (arXiv 2205.14135), a much smaller sum.
        const inner = this.#tf.mul(this.#tf.sum(this.#tf.mul(g, value), -1, true), scale);
        const toProbabilities = this.#product(this.#tf.mul(g, scale), values, false, true);
        const toScores = this.#tf.mul(probabilities, this.#tf.sub(toProbabilities, inner));
        return [
          this.#product(toScores, keys, false, false),
          this.#product(toScores, queries, true, false),
          this.#product(probabilities, g, true, false),
        ];
      },
    );
  }

  swiglu(gate: TfTensor, up: TfTensor): TfTensor {
    return this.#withGradient(
      [gate, up],
      () => {
        const sigmoid = this.#tf.sigmoid(gate);
        const silu = this.#tf.mul(gate, sigmoid);
        const value = this.#tf.mul(silu, up);
        return { value, saved: [sigmoid, silu, up, value] };
      },
      (g, sigmoid, silu, up, value) => {
        const slope = this.#tf.add(value, this.#tf.mul(sigmoid, this.#tf.sub(up, value)));
        return [this.#tf.mul(g, slope), this.#tf.mul(g, silu)];
      },
    );
  }

  /** Computes a value, and the gradients of `inputs` from the value's gradient and the saved tensors. */
  #withGradient(
    inputs: readonly TfTensor[],
    forward: () => { value: TfTensor; saved: TfTensor[] },
    backward: (g: TfTensor, ...saved: [TfTensor, TfTensor, TfTensor, TfTensor, TfTensor]) => TfTensor[],
  ): TfTensor {
    const operation = this.#tf.customGrad((...given: (TfTensor | GradSaveFunc)[]) => {
      const { value, saved } = forward();
      (given.at(-1) as GradSaveFunc)(saved);
      const gradFunc = (g: TfTensor, saved: TfTensor[]) =>
        this.#tf.tidy(() => backward(g, ...(saved as [TfTensor, TfTensor, TfTensor, TfTensor, TfTensor])));
      return { value, gradFunc };
    });
    return operation(...inputs);
  }

  /** On WebAssembly, multiplying with transposed operands is five to ten times slower than transposing them first. */
  get #transposesFirst(): boolean {
    return this.#tf.getBackend() === 'wasm';
  }

  /** A product without a gradient. */
  #product(a: TfTensor, b: TfTensor, transposeA: boolean, transposeB: boolean): TfTensor {
    if (!this.#transposesFirst) return this.#tf.matMul(a, b, transposeA, transposeB);
    const swapped = (x: TfTensor, swap: boolean) => {
      if (!swap) return x;
      const axes = [...x.shape.keys()];
      return this.#tf.transpose(x, [...axes.slice(0, -2), x.rank - 1, x.rank - 2]);
    };
    return this.#tf.matMul(swapped(a, transposeA), swapped(b, transposeB));
  }

  #logSoftmax(logits: TfTensor): TfTensor {
    const known = this.#logs.get(logits);
    if (known) return known;
    const logs = this.#tf.logSoftmax(logits);
    this.#logs.set(logits, logs);
    return logs;
  }

  /** The shape in numbers; −1 is the dimension to infer. */
  #resolve(shape: readonly Dim[]): number[] {
    return shape.map((dim) => (typeof dim === 'number' ? dim : (this.#dims.get(dim) ?? -1)));
  }
}

/** The tensor on the backend. Within `tidy`, a tensor that this function uploads is disposed again. */
export function toTf(tf: Tfjs, value: Tensor): TfTensor {
  if (value instanceof ResidentTensor) return value.handle;
  const { data, dims } = value;
  return tf.tensor(data, [...dims], data instanceof Float32Array ? 'float32' : 'int32');
}
