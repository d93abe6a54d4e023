/** Ops that ATen computes at once. Each operation records how its gradients are pulled back. The caller owns each result. */
import {
  broadcastAxes,
  type Dim,
  type ElementType,
  type MatmulOptions,
  type Ops,
  type PooledAttention,
  sizeOf,
} from '@toolenv/policy/runtime';
import type { GradientTape, Pull } from './gradient-tape.ts';
import type { AttentionInputs, Kernels, Unary } from './kernels.ts';
import { NamedDims } from './named-dims.ts';
import type { SharedValues } from './shared-values.ts';
import { TapedAttention } from './taped-attention.ts';
import type { TorchTensor } from './torch-tensor.ts';

export type Given = (name: string) => TorchTensor;

export class TorchOps implements Ops<TorchTensor> {
  readonly #kernels: Kernels;
  readonly #given: Given;
  readonly #tape: GradientTape;
  readonly #dims: NamedDims = new NamedDims();
  readonly #inputs: Set<TorchTensor> = new Set();
  readonly #shared: SharedValues;
  readonly #attention: TapedAttention;
  #one: TorchTensor | undefined;

  /** The precision is that of products. Sums, norms and probabilities are float32, as in PyTorch's autocast, and so are attention's gradients. */
  constructor(kernels: Kernels, given: Given, tape: GradientTape, shared: SharedValues) {
    this.#kernels = kernels;
    this.#given = given;
    this.#tape = tape;
    this.#shared = shared;
    this.#attention = new TapedAttention(kernels, tape, shared);
  }

  /** @throws RangeError for a missing input, or for a wrong shape. */
  input(name: string, type: ElementType, shape: readonly Dim[]): TorchTensor {
    const value = this.#given(name);
    const expected = this.#dims.ofInput(shape, value.shape);
    // A cache may have the precision of products.
    const isType = value.type === type || (type === 'float32' && value.type === 'bfloat16');
    if (!isType || `${value.shape}` !== `${expected}`)
      throw new RangeError(
        `Input "${name}" is ${value.type} [${value.shape}] instead of ${type} [${expected}].`,
      );
    this.#inputs.add(value);
    return value;
  }

  scalar(value: number): TorchTensor {
    return this.#shared.constant(value).keep();
  }

  shapeOf(x: TorchTensor): readonly Dim[] {
    return x.shape;
  }

  add(a: TorchTensor, b: TorchTensor): TorchTensor {
    const y = this.#kernels.add(a, b);
    return this.#record([a, b], y, [], ([g], wants) =>
      [a, b].map((operand, index) => (wants(index) ? this.#unbroadcast(g!, operand) : undefined)),
    );
  }

  sub(a: TorchTensor, b: TorchTensor): TorchTensor {
    const y = this.#kernels.add(a, b, -1);
    return this.#record([a, b], y, [], ([g], wants) => [
      this.#unbroadcast(g!, a),
      wants(1) ? this.#kernels.unary('neg', this.#unbroadcast(g!, b)) : undefined,
    ]);
  }

  mul(a: TorchTensor, b: TorchTensor): TorchTensor {
    const y = this.#kernels.mul(a, b);
    return this.#record([a, b], y, [a, b], ([g], wants) => [
      wants(0) ? this.#unbroadcast(this.#kernels.mul(g!, b), a) : undefined,
      wants(1) ? this.#unbroadcast(this.#kernels.mul(g!, a), b) : undefined,
    ]);
  }

  div(a: TorchTensor, b: TorchTensor): TorchTensor {
    const y = this.#kernels.div(a, b);
    return this.#record([a, b], y, [b, y], ([g], wants) => {
      const toA = this.#kernels.div(g!, b);
      const toB = wants(1) ? this.#kernels.unary('neg', this.#kernels.mul(toA, y)) : undefined;
      return [this.#unbroadcast(toA, a), toB && this.#unbroadcast(toB, b)];
    });
  }

  neg(x: TorchTensor): TorchTensor {
    return this.#unary('neg', x, [], (g) => this.#kernels.unary('neg', g));
  }

  exp(x: TorchTensor): TorchTensor {
    return this.#unary('exp', x, 'y', (g, y) => this.#kernels.mul(g, y));
  }

  sqrt(x: TorchTensor): TorchTensor {
    const half = (g: TorchTensor) => this.#kernels.mul(g, this.#shared.constant(0.5));
    return this.#unary('sqrt', x, 'y', (g, y) => this.#kernels.div(half(g), y));
  }

  logSigmoid(x: TorchTensor): TorchTensor {
    const k = this.#kernels;
    const y = k.tidy(() => k.logSigmoid(this.#shared.wide(x)));
    return this.#record([x], y, [x], ([g]) => [k.mul(g!, k.unary('sigmoid', k.unary('neg', x)))]);
  }

  relu(x: TorchTensor): TorchTensor {
    return this.#kernels.unary('relu', x);
  }

  sum(x: TorchTensor, axes: readonly number[]): TorchTensor {
    const y = this.#kernels.sum(x, axes);
    return this.#record([x], y, [], ([g]) => [this.#kernels.expand(g!, x.shape)]);
  }

  sumAll(x: TorchTensor): TorchTensor {
    const y = this.#kernels.sumAll(x);
    return this.#record([x], y, [], ([g]) => [this.#kernels.expand(g!, x.shape)]);
  }

  matmul(
    a: TorchTensor,
    b: TorchTensor,
    { transposeA = false, transposeB = false, scale = 1, exact = false }: MatmulOptions = {},
  ): TorchTensor {
    const k = this.#kernels;
    const wide = [a, b] as const;
    [a, b] = exact ? [a.keep(), b.keep()] : [this.#narrow(a), this.#narrow(b)];
    const factor = (x: TorchTensor) => (scale === 1 ? x : k.mul(x, this.#shared.constant(scale)));
    const turned = (x: TorchTensor, turns: boolean) => (turns ? k.transposed(x) : x);
    const product = (a: TorchTensor, b: TorchTensor, left: boolean, right: boolean) =>
      k.matmul(turned(a, left), turned(b, right));
    const y = k.tidy(() => factor(product(a, b, transposeA, transposeB)));
    const entry: Pull = ([given], wants) => {
      const g = factor(given!);
      return [
        wants(0)
          ? transposeA
            ? product(b, g, transposeB, true)
            : product(g, b, false, !transposeB)
          : undefined,
        wants(1)
          ? transposeB
            ? product(g, a, true, transposeA)
            : product(a, g, !transposeA, false)
          : undefined,
      ];
    };
    this.#record(wide, y, [a, b], entry);
    for (const each of [a, b]) each.drop();
    return y;
  }

  linear(x: TorchTensor, weight: TorchTensor, bias?: TorchTensor): TorchTensor {
    const k = this.#kernels;
    const [left, right, added] = [x, weight, bias].map((each) => each && this.#narrow(each));
    const y = k.linear(left!, right!, added);
    this.#record(bias ? [x, weight, bias] : [x, weight], y, [left!, right!], ([g], wants) => [
      wants(0) ? k.matmul(g!, right!) : undefined,
      wants(1) ? k.matmul(k.transposed(g!), left!) : undefined,
      bias && wants(2) ? this.#unbroadcast(g!, bias) : undefined,
    ]);
    for (const each of [left, right, added]) each?.drop();
    return y;
  }

  reshape(x: TorchTensor, shape: readonly Dim[]): TorchTensor {
    const y = this.#kernels.reshape(x, this.#dims.resolve(shape, { size: sizeOf(x.shape) }));
    return this.#record([x], y, [], ([g]) => [this.#kernels.reshape(g!, x.shape)]);
  }

  transpose(x: TorchTensor, order: readonly number[]): TorchTensor {
    const back = order.map((_, axis) => order.indexOf(axis));
    const y = this.#kernels.permute(x, order);
    return this.#record([x], y, [], ([g]) => [this.#kernels.permute(g!, back)]);
  }

  concat(parts: readonly TorchTensor[], axis: number): TorchTensor {
    const at = (axis + parts[0]!.shape.length) % parts[0]!.shape.length;
    const y = this.#kernels.cat(parts, at);
    return this.#record(parts, y, [], ([g]) =>
      this.#pieces(
        g!,
        at,
        parts.map(({ shape }) => shape[at]!),
      ),
    );
  }

  split(x: TorchTensor, axis: number, into: number | readonly TorchTensor[]): TorchTensor[] {
    const at = (axis + x.shape.length) % x.shape.length;
    const lengths =
      typeof into === 'number'
        ? Array<number>(into).fill(x.shape[at]! / into)
        : into.map(({ shape }) => shape[at]!);
    const pieces = this.#pieces(x, at, lengths);
    const shapes = pieces.map(({ shape }) => shape);
    this.#tape.record([x], pieces, [], (arriving) => {
      const all = arriving.map((g, index) => g ?? this.#kernels.full(shapes[index]!, 0, x.type));
      return [this.#kernels.cat(all, at)];
    });
    return pieces;
  }

  gatherRows(table: TorchTensor, ids: TorchTensor): TorchTensor {
    const k = this.#kernels;
    const [count, ...rest] = table.shape as [number, ...number[]];
    const flat = (x: TorchTensor, axes: number) => k.reshape(x, [...x.shape.slice(0, axes), sizeOf(rest)]);
    const shape = [...ids.shape, ...rest];
    const y = k.tidy(() => k.reshape(k.embedding(flat(table, 1), ids), shape));
    return this.#record([table], y, [ids], ([g]) => [
      k.reshape(k.embeddingGradient(flat(g!, ids.shape.length), ids, count), table.shape),
    ]);
  }

  addRows(x: TorchTensor, ids: readonly TorchTensor[], parts: readonly TorchTensor[]): TorchTensor {
    const k = this.#kernels;
    const y = k.clone(x);
    k.tidy(() => {
      for (const [index, part] of parts.entries()) {
        const places = k.cast(ids[index]!, 'int64');
        k.copyRows(y, places, k.add(k.select(y, 0, places), part));
      }
      return [];
    });
    return this.#record([x, ...parts], y, ids, ([g], wants) => [
      g!,
      ...ids.map((each, index) => (wants(index + 1) ? k.embedding(g!, each) : undefined)),
    ]);
  }

  nonZeroRows(x: TorchTensor): TorchTensor[] {
    const [rows, columns] = x.shape as [number, number];
    const values = this.#kernels.read(x);
    return Array.from({ length: columns }, (_, column) => {
      const ids = [...Array(rows).keys()].filter((row) => values[row * columns + column] !== 0);
      return this.#kernels.of(Int32Array.from(ids), [ids.length]);
    });
  }

  keepLargest(x: TorchTensor, count: number): TorchTensor {
    const k = this.#kernels;
    const [largest, places] = k.largest(x, count);
    const spread = (kept: TorchTensor) => {
      const all = k.full(x.shape, 0);
      k.scatterAdd(all, places, kept);
      return all;
    };
    const y = spread(largest);
    this.#record([x], y, [places], ([g]) => [spread(k.gather(g!, places))]);
    for (const each of [largest, places]) each.drop();
    return y;
  }

  softmax(x: TorchTensor): TorchTensor {
    return this.#unary('softmax', x, 'y', (g, y) => this.#kernels.softmaxGradient(g, y));
  }

  logProbability(logits: TorchTensor, ids: TorchTensor): TorchTensor {
    const k = this.#kernels;
    const logs = this.#shared.logSoftmax(logits);
    const column = k.reshape(ids, [ids.shape[0]!, 1]);
    const [y, index] = k.tidy(() => {
      const index = k.cast(column, 'int64');
      return [k.reshape(k.gather(logs, index), ids.shape), index] as const;
    });
    column.drop();
    this.#record([logits], y, [logs, index], ([g]) => {
      const down = k.reshape(g!, index.shape);
      const spread = k.mul(this.#shared.probabilities(logs), k.unary('neg', down));
      k.scatterAdd(spread, index, down);
      return [spread];
    });
    index.drop();
    return y;
  }

  entropy(logits: TorchTensor): TorchTensor {
    const k = this.#kernels;
    const logs = this.#shared.logSoftmax(logits);
    const column = k.tidy(() =>
      k.unary('neg', k.sum(k.mul(this.#shared.probabilities(logs), logs), [logs.shape.length - 1])),
    );
    const y = k.reshape(column, logits.shape.slice(0, -1));
    this.#record([logits], y, [logs, column], ([g]) => {
      const down = k.unary('neg', k.reshape(g!, column.shape));
      return [k.mul(k.mul(this.#shared.probabilities(logs), down), k.add(logs, column))];
    });
    column.drop();
    return y;
  }

  rmsNorm(x: TorchTensor, weight: TorchTensor, epsilon: number): TorchTensor {
    const k = this.#kernels;
    const width = x.shape.at(-1)!;
    const rows = [sizeOf(x.shape) / width, width];
    const [y, normalised, inverse] = k.tidy(() => {
      const wide = k.reshape(this.#shared.wide(x), rows);
      const squares = k.mul(wide, wide);
      const mean = k.mul(k.sum(squares, [1]), this.#shared.constant(1 / width));
      const inverse = k.unary('rsqrt', k.add(mean, this.#shared.constant(epsilon)));
      k.mulInto(squares, wide, inverse);
      return [k.reshape(k.mul(squares, weight), x.shape), squares, inverse] as const;
    });
    this.#record([x, weight], y, [normalised, weight, inverse], ([g], wants) => {
      const arriving = k.reshape(g!, rows);
      const toX = () =>
        k.reshape(k.normalisedGradient(k.mul(arriving, weight), normalised, inverse), x.shape);
      const toWeight = () => this.#unbroadcast(k.mul(arriving, normalised), weight);
      return [wants(0) ? toX() : undefined, wants(1) ? toWeight() : undefined];
    });
    for (const each of [normalised, inverse]) each.drop();
    return y;
  }

  rotary(x: TorchTensor, positions: TorchTensor, cos: TorchTensor, sin: TorchTensor): TorchTensor {
    const k = this.#kernels;
    const half = x.shape.at(-1)! / 2;
    const [cosines, sines] = this.#shared.anglesAt(cos, sin, positions);
    const turned = (x: TorchTensor, sign: 1 | -1) => {
      const y = k.mul(x, cosines);
      const [first, second] = this.#pieces(x, 3, [half, half]) as [TorchTensor, TorchTensor];
      k.addProduct(y, this.#shared.constant(sign, [1]), k.cat([second, first], 3), sines);
      return y;
    };
    const y = k.tidy(() => turned(x, 1));
    // The transpose of a rotation is the inverse rotation.
    return this.#record([x], y, [cosines, sines], ([g]) => [turned(g!, -1)]);
  }

  attention(
    queries: TorchTensor,
    keys: TorchTensor,
    values: TorchTensor,
    mask: TorchTensor,
    scale: number,
  ): TorchTensor {
    return this.#attend([queries, keys, values], mask, scale);
  }

  causalAttention(queries: TorchTensor, keys: TorchTensor, values: TorchTensor, scale: number): TorchTensor {
    return this.#attend([queries, keys, values], 'causal', scale);
  }

  treeAttention(
    queries: TorchTensor,
    keys: TorchTensor,
    values: TorchTensor,
    ends: TorchTensor,
    scale: number,
  ): TorchTensor {
    return this.#attend([queries, keys, values], { ends }, scale);
  }

  pooledAttention(
    given: PooledAttention<TorchTensor>,
    scale: number,
  ): [mixed: TorchTensor, keys: TorchTensor, values: TorchTensor] {
    return this.#attention.attendToPool(given, scale);
  }

  swiglu(gate: TorchTensor, up: TorchTensor): TorchTensor {
    const k = this.#kernels;
    const silu = k.unary('silu', gate);
    const y = k.mul(silu, up);
    this.#record([gate, up], y, [gate, up, silu], ([g], wants) => [
      wants(0) ? k.siluGradient(k.mul(g!, up), gate) : undefined,
      wants(1) ? k.mul(g!, silu) : undefined,
    ]);
    silu.drop();
    return y;
  }

  /** @param trained The tensors from outside that `compute` uses and that have gradients. */
  checkpoint(
    xs: readonly TorchTensor[],
    trained: readonly TorchTensor[],
    compute: (xs: readonly TorchTensor[]) => TorchTensor[],
  ): TorchTensor[] {
    const { made: outputs, tape } = this.#tape.apart(() => compute(xs));
    tape.clear();
    const inputs = [...xs, ...trained];
    const pull: Pull = (arriving) => {
      const again = this.#tape.apart(() => compute(xs));
      const given = again.made.flatMap((output, index) =>
        arriving[index] ? [[output, arriving[index].keep()] as const] : [],
      );
      const gradients = again.tape.pullBack(given, inputs);
      for (const output of again.made) output.drop();
      return gradients;
    };
    this.#tape.record(inputs, outputs, inputs, pull, true);
    return outputs;
  }

  weightedSum(
    x: TorchTensor,
    trained: readonly TorchTensor[],
    compute: (x: TorchTensor) => TorchTensor[],
    slopes: readonly (TorchTensor | undefined)[],
  ): { sum: TorchTensor; outputs: TorchTensor[] } {
    const k = this.#kernels;
    const { made: outputs, tape } = this.#tape.apart(() => compute(x));
    const weighted = outputs.flatMap((output, index) =>
      slopes[index] ? [[output, slopes[index]] as const] : [],
    );
    const sum = k.tidy(() =>
      weighted
        .map(([output, slope]) => k.sumAll(k.mul(slope, output)))
        .reduce((total, term) => k.add(total, term)),
    );
    const inputs = [x, ...trained];
    const given = weighted.map(([output, slope]) => [output, k.expand(slope, output.shape)] as const);
    const gradients = tape.pullBack(given, inputs);
    this.#shared.forgetLogits();
    const found = gradients.filter((gradient) => gradient !== undefined);
    this.#record(inputs, sum, found, ([g]) =>
      gradients.map((gradient) => gradient && (g === this.#one ? gradient.keep() : k.mul(gradient, g!))),
    );
    for (const gradient of found) gradient.drop();
    return { sum, outputs };
  }

  /** The gradient of the loss by itself. The caller owns it. */
  one(): TorchTensor {
    this.#one = this.#kernels.full([], 1);
    return this.#one;
  }

  /** Frees what operations share. */
  close(): void {
    this.#shared.close();
    this.#attention.close();
  }

  #attend(
    inputs: AttentionInputs,
    mask: Parameters<TapedAttention['attend']>[1],
    scale: number,
  ): TorchTensor {
    return this.#attention.attend(inputs, mask, scale, (x) => this.#narrow(x));
  }

  #narrow(x: TorchTensor): TorchTensor {
    return this.#shared.narrow(x, this.#inputs.has(x));
  }

  #record(
    inputs: readonly TorchTensor[],
    output: TorchTensor,
    saved: readonly TorchTensor[],
    pull: Pull,
  ): TorchTensor {
    this.#tape.record(inputs, [output], saved, pull);
    return output;
  }

  #unary(
    name: Unary | 'softmax',
    x: TorchTensor,
    saved: readonly TorchTensor[] | 'y',
    pull: (g: TorchTensor, y: TorchTensor) => TorchTensor,
  ): TorchTensor {
    const k = this.#kernels;
    const y = name === 'softmax' ? k.tidy(() => k.softmax(this.#shared.wide(x))) : k.unary(name, x);
    return this.#record([x], y, saved === 'y' ? [y] : saved, ([g]) => [pull(g!, y)]);
  }

  #pieces(x: TorchTensor, axis: number, lengths: readonly number[]): TorchTensor[] {
    let start = 0;
    return lengths.map((length) => {
      start += length;
      return this.#kernels.narrow(x, axis, start - length, length);
    });
  }

  /** Sums a gradient over the axes along which an operand was broadcast. */
  #unbroadcast(g: TorchTensor, { shape }: TorchTensor): TorchTensor {
    if (`${g.shape}` === `${shape}`) return g;
    const axes = broadcastAxes(g.shape, shape);
    const summed = axes.length === 0 ? g : this.#kernels.sum(g, axes);
    return this.#kernels.reshape(summed, shape);
  }
}
