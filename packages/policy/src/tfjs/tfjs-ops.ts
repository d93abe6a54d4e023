/** Ops that TensorFlow.js computes at once. Gradients are its own, except where it has none or slow ones. */
import type { GradSaveFunc, Tensor as TfTensor } from '@tensorflow/tfjs';
import type { Dim, ElementType, Ops } from '../ops.ts';
import type { Tensors } from '../runtime.ts';
import { broadcastShape } from '../shape.ts';
import type { Tfjs } from './load-tfjs.ts';
import type { ResidentInputs } from './resident-inputs.ts';

/** One run of a program. Dimensions are numbers here; names are looked up among the inputs that came before. */
export class TfjsOps implements Ops<TfTensor> {
  readonly #tf: Tfjs;
  readonly #given: Tensors;
  readonly #resident: ResidentInputs;
  readonly #inputs: Map<string, TfTensor> = new Map();
  readonly #dims: Map<string, number> = new Map();

  constructor(tf: Tfjs, given: Tensors, resident: ResidentInputs) {
    this.#tf = tf;
    this.#given = given;
    this.#resident = resident;
  }

  /** @throws RangeError for an input that was not given, or that has another shape. */
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
      value = this.#resident.get(name, tensor);
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

  min(a: TfTensor, b: TfTensor): TfTensor {
    // The gradient of TensorFlow.js's minimum has the shape of its output.
    const shape = broadcastShape(a.shape, b.shape) as number[];
    return this.#tf.minimum(this.#tf.broadcastTo(a, shape), this.#tf.broadcastTo(b, shape));
  }

  sum(x: TfTensor, axes: readonly number[]): TfTensor {
    return this.#tf.sum(x, [...axes], true);
  }

  sumAll(x: TfTensor): TfTensor {
    // Row by row: WebAssembly adds one number after the other, and over millions that loses the third digit.
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
    const product =
      this.#tf.getBackend() === 'wasm'
        ? this.#transposedFirst(a, b, transposeA, transposeB)
        : this.#tf.matMul(a, b, transposeA, transposeB);
    return scale === 1 ? product : this.#tf.mul(product, scale);
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
    const gather = this.#tf.customGrad((...[, save]: (TfTensor | GradSaveFunc)[]) => {
      (save as GradSaveFunc)([ids]);
      const gradFunc = (g: TfTensor, [ids]: TfTensor[]) => {
        const column = this.#tf.reshape(ids!, [-1, 1]);
        const rows = this.#tf.reshape(g, [ids!.size, ...table.shape.slice(1)]);
        return this.#tf.scatterND(column, rows, table.shape);
      };
      return { value: this.#tf.gather(table, ids), gradFunc };
    });
    return gather(table);
  }

  softmax(x: TfTensor): TfTensor {
    return this.#tf.softmax(x);
  }

  logProbability(logits: TfTensor, ids: TfTensor): TfTensor {
    // Asked for float32, WebAssembly's oneHot gives the bits of integers.
    const chosen = this.#tf.cast(this.#tf.oneHot(ids, logits.shape[1]!), 'float32');
    return this.#tf.sum(this.#tf.mul(this.#tf.logSoftmax(logits), chosen), -1);
  }

  entropy(logits: TfTensor): TfTensor {
    const logs = this.#tf.logSoftmax(logits);
    return this.#tf.neg(this.#tf.sum(this.#tf.mul(this.#tf.exp(logs), logs), -1));
  }

  rmsNorm(x: TfTensor, weight: TfTensor, epsilon: number): TfTensor {
    const meanSquare = this.#tf.mean(this.#tf.square(x), -1, true);
    return this.#tf.mul(this.#tf.mul(x, this.#tf.rsqrt(this.#tf.add(meanSquare, epsilon))), weight);
  }

  rotary(x: TfTensor, positions: TfTensor, cos: TfTensor, sin: TfTensor): TfTensor {
    // [B, 1, T, D/2]: the heads share their angles.
    const [c, s] = [cos, sin].map((table) => this.#tf.expandDims(this.#tf.gather(table, positions), 1));
    const [first, second] = this.#tf.split(x, 2, -1);
    const turned = [
      this.sub(this.mul(first!, c!), this.mul(second!, s!)),
      this.add(this.mul(second!, c!), this.mul(first!, s!)),
    ];
    return this.#tf.concat(turned, -1);
  }

  attention(queries: TfTensor, keys: TfTensor, values: TfTensor, mask: TfTensor, scale: number): TfTensor {
    const scores = this.matmul(queries, keys, { transposeB: true, scale });
    return this.matmul(this.softmax(this.add(scores, mask)), values);
  }

  silu(x: TfTensor): TfTensor {
    return this.#tf.mul(x, this.#tf.sigmoid(x));
  }

  /** The product of plain matrices: WebAssembly's of transposed ones is five to ten times slower, and gradients have those. */
  #transposedFirst(a: TfTensor, b: TfTensor, transposeA: boolean, transposeB: boolean): TfTensor {
    const swapped = (x: TfTensor, swap: boolean) => {
      if (!swap) return x;
      const axes = [...x.shape.keys()];
      return this.#tf.transpose(x, [...axes.slice(0, -2), x.rank - 1, x.rank - 2]);
    };
    const product = (a: TfTensor, b: TfTensor, swapA: boolean, swapB: boolean) =>
      this.#tf.matMul(swapped(a, swapA), swapped(b, swapB));
    const differentiable = this.#tf.customGrad((...[, , save]: (TfTensor | GradSaveFunc)[]) => {
      (save as GradSaveFunc)([a, b]);
      const gradFunc = (g: TfTensor, saved: TfTensor[]) => {
        const [a, b] = saved as [TfTensor, TfTensor];
        return [
          transposeA ? product(b, g, transposeB, true) : product(g, b, false, !transposeB),
          transposeB ? product(g, a, true, transposeA) : product(a, g, !transposeA, false),
        ];
      };
      return { value: product(a, b, transposeA, transposeB), gradFunc };
    });
    return differentiable(a, b);
  }

  /** The shape in numbers, −1 standing for the one that is to be inferred. */
  #resolve(shape: readonly Dim[]): number[] {
    return shape.map((dim) => (typeof dim === 'number' ? dim : (this.#dims.get(dim) ?? -1)));
  }
}
