/** Ops that ATen computes at once. Each operation records how its gradients are pulled back. The caller owns each result. */
import {
  broadcastAxes,
  type CachedAttention,
  type Dim,
  type ElementType,
  type MatmulOptions,
  type Ops,
  sizeOf,
} from '@toolenv/policy/runtime';
import { CachedPast } from './cached-past.ts';
import type { GradientTape, Pull } from './gradient-tape.ts';
import type { AttentionInputs, Kernels, Unary } from './kernels.ts';
import type { TorchTensor } from './torch-tensor.ts';

export type Given = (name: string) => TorchTensor;
export type Precision = 'float32' | 'bfloat16';

export class TorchOps implements Ops<TorchTensor> {
  readonly #kernels: Kernels;
  readonly #given: Given;
  readonly #tape: GradientTape;
  readonly #dims: Map<string, number> = new Map();
  readonly #inputs: Set<TorchTensor> = new Set();
  /** The log softmax and softmax of the logits that were read last, for log-probabilities and entropies. */
  #logs: { logits: TorchTensor; logs: TorchTensor; probabilities?: TorchTensor } | undefined;

  /** By rotary table of cosines, at the positions, of which a program has one input. */
  readonly #angles: Map<TorchTensor, readonly [cosines: TorchTensor, sines: TorchTensor]> = new Map();

  readonly #constants: Map<string, TorchTensor> = new Map();
  /** Of the program's one attention to a cache. */
  #past: CachedPast | undefined;
  #one: TorchTensor | undefined;
  readonly #precision: Precision;
  readonly #narrowed: Map<TorchTensor, TorchTensor>;
  /** The other operand that was rounded last: several products often share it. */
  #lastNarrowed: { x: TorchTensor; narrow: TorchTensor } | undefined;

  /**
   * @param options The precision of products. Attention, sums, norms and probabilities are float32, as in PyTorch's autocast.
   * `narrowed` has, and gets, copies of inputs in that precision, which its owner drops.
   */
  constructor(
    kernels: Kernels,
    given: Given,
    tape: GradientTape,
    { precision, narrowed }: { precision: Precision; narrowed: Map<TorchTensor, TorchTensor> },
  ) {
    this.#kernels = kernels;
    this.#given = given;
    this.#tape = tape;
    this.#precision = precision;
    this.#narrowed = narrowed;
  }

  /** @throws RangeError for a missing input, or for a wrong shape. */
  input(name: string, type: ElementType, shape: readonly Dim[]): TorchTensor {
    const value = this.#given(name);
    for (const [axis, dim] of shape.entries())
      if (typeof dim === 'string' && !this.#dims.has(dim)) this.#dims.set(dim, value.shape[axis] ?? 1);
    const expected = this.#resolve(shape, value.shape);
    if (value.type !== type || `${value.shape}` !== `${expected}`)
      throw new RangeError(
        `Input "${name}" is ${value.type} [${value.shape}] instead of ${type} [${expected}].`,
      );
    this.#inputs.add(value);
    return value;
  }

  scalar(value: number): TorchTensor {
    return this.#constant(value).keep();
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
    const half = (g: TorchTensor) => this.#kernels.mul(g, this.#constant(0.5));
    return this.#unary('sqrt', x, 'y', (g, y) => this.#kernels.div(half(g), y));
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
    const factor = (x: TorchTensor) => (scale === 1 ? x : k.mul(x, this.#constant(scale)));
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
    const y = this.#kernels.reshape(x, this.#resolve(shape, undefined, sizeOf(x.shape)));
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
    const y = this.#kernels.embedding(table, ids);
    return this.#record([table], y, [ids], ([g]) => [
      this.#kernels.embeddingGradient(g!, ids, table.shape[0]!),
    ]);
  }

  softmax(x: TorchTensor): TorchTensor {
    return this.#unary('softmax', x, 'y', (g, y) => this.#kernels.softmaxGradient(g, y));
  }

  logProbability(logits: TorchTensor, ids: TorchTensor): TorchTensor {
    const k = this.#kernels;
    const logs = this.#logSoftmax(logits);
    const column = k.reshape(ids, [ids.shape[0]!, 1]);
    const [y, index] = k.tidy(() => {
      const index = k.cast(column, 'int64');
      return [k.reshape(k.gather(logs, index), ids.shape), index] as const;
    });
    column.drop();
    this.#record([logits], y, [logs, index], ([g]) => {
      const down = k.reshape(g!, index.shape);
      const spread = k.mul(this.#probabilities(logs), k.unary('neg', down));
      k.scatterAdd(spread, index, down);
      return [spread];
    });
    index.drop();
    return y;
  }

  entropy(logits: TorchTensor): TorchTensor {
    const k = this.#kernels;
    const logs = this.#logSoftmax(logits);
    const column = k.tidy(() =>
      k.unary('neg', k.sum(k.mul(this.#probabilities(logs), logs), [logs.shape.length - 1])),
    );
    const y = k.reshape(column, logits.shape.slice(0, -1));
    this.#record([logits], y, [logs, column], ([g]) => {
      const down = k.unary('neg', k.reshape(g!, column.shape));
      return [k.mul(k.mul(this.#probabilities(logs), down), k.add(logs, column))];
    });
    column.drop();
    return y;
  }

  rmsNorm(x: TorchTensor, weight: TorchTensor, epsilon: number): TorchTensor {
    const k = this.#kernels;
    const width = x.shape.at(-1)!;
    const rows = [sizeOf(x.shape) / width, width];
    const [y, normalised, inverse] = k.tidy(() => {
      const wide = k.reshape(this.#wide(x), rows);
      const squares = k.mul(wide, wide);
      const mean = k.mul(k.sum(squares, [1]), this.#constant(1 / width));
      const inverse = k.unary('rsqrt', k.add(mean, this.#constant(epsilon)));
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
    const [cosines, sines] = this.#anglesAt(cos, sin, positions);
    const turned = (x: TorchTensor, sign: 1 | -1) => {
      const y = k.mul(x, cosines);
      const [first, second] = this.#pieces(x, 3, [half, half]) as [TorchTensor, TorchTensor];
      k.addProduct(y, this.#constant(sign, [1]), k.cat([second, first], 3), sines);
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
    return this.#attention([queries, keys, values], mask, scale);
  }

  causalAttention(queries: TorchTensor, keys: TorchTensor, values: TorchTensor, scale: number): TorchTensor {
    return this.#attention([queries, keys, values], 'causal', scale);
  }

  #attention(inputs: AttentionInputs, mask: TorchTensor | 'causal', scale: number): TorchTensor {
    // In float32: on CPUs with AMX, its gradients take half the time that they take in bfloat16.
    const wide = inputs.map((each) =>
      each.type === 'bfloat16' ? this.#kernels.cast(each, 'float32') : each.keep(),
    ) as unknown as AttentionInputs;
    const [y, logs] = this.#kernels.attention(wide, mask, scale);
    const saved = [...wide, y, logs, ...(mask === 'causal' ? [] : [mask])];
    this.#record(inputs, y, saved, ([g]) =>
      this.#kernels.attentionGradients(g!, wide, [y, logs], mask, scale),
    );
    for (const each of [...wide, logs]) each.drop();
    return y;
  }

  /** Writes into the past itself, if it has room: the cache that gave it gives it up. */
  cachedAttention(
    { queries, keys, values, pastKeys, pastValues, lengths, room, window }: CachedAttention<TorchTensor>,
    scale: number,
  ): [mixed: TorchTensor, keys: TorchTensor, values: TorchTensor] {
    const k = this.#kernels;
    const fresh = [keys, values] as const;
    const time = queries.shape[2]!;
    this.#past ??= new CachedPast(k, { lengths, room, keys, pastKeys });
    const past = this.#past;
    const [grownKeys, grownValues] = k.tidy(() =>
      [pastKeys, pastValues].map((each, index) => past.grow(each, this.#wide(fresh[index]!))),
    ) as [TorchTensor, TorchTensor];
    const mixed = k.tidy(() => {
      const wide = (x: TorchTensor) => this.#wide(x);
      const [y] =
        past.isEmpty && (window === undefined || window >= time)
          ? k.attention([wide(queries), wide(keys), wide(values)], 'causal', scale)
          : k.attention([wide(queries), grownKeys, grownValues], past.mask(window), scale);
      return y;
    });
    return [mixed, grownKeys, grownValues];
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
    x: TorchTensor,
    trained: readonly TorchTensor[],
    compute: (x: TorchTensor) => TorchTensor[],
  ): TorchTensor[] {
    const { made: outputs, tape } = this.#tape.apart(() => compute(x));
    tape.clear();
    const inputs = [x, ...trained];
    const pull: Pull = (arriving) => {
      const again = this.#tape.apart(() => compute(x));
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
    this.#forget();
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
    this.#forget();
    this.#lastNarrowed?.narrow.drop();
    this.#lastNarrowed = undefined;
    for (const each of [...this.#angles.values(), ...this.#constants.values()].flat()) each.drop();
    this.#constants.clear();
    this.#past?.close();
    this.#past = undefined;
    this.#angles.clear();
  }

  #constant(value: number, shape: readonly number[] = []): TorchTensor {
    const key = `${value} [${shape}]`;
    const known = this.#constants.get(key);
    if (known) return known;
    const made = this.#kernels.outside(() => this.#kernels.full(shape, value));
    this.#constants.set(key, made);
    return made;
  }

  #forget(): void {
    this.#logs?.logs.drop();
    this.#logs?.probabilities?.drop();
    this.#logs = undefined;
  }

  /** In the precision of products. The caller owns the result. */
  #narrow(x: TorchTensor): TorchTensor {
    if (x.type === this.#precision) return x.keep();
    const known =
      this.#narrowed.get(x) ?? (this.#lastNarrowed?.x === x ? this.#lastNarrowed.narrow : undefined);
    if (known) return known.keep();
    const narrow = this.#kernels.cast(x, this.#precision);
    if (this.#inputs.has(x)) {
      this.#narrowed.set(x, narrow);
      return narrow.keep();
    }
    this.#lastNarrowed?.narrow.drop();
    this.#lastNarrowed = { x, narrow };
    return narrow.keep();
  }

  /** In float32. Within `tidy`, which frees a copy. */
  #wide(x: TorchTensor): TorchTensor {
    return x.type === 'bfloat16' ? this.#kernels.cast(x, 'float32') : x;
  }

  /** [B, 1, T, D], which the heads and the layers share: cosines twice, and sines with the sign of the half that they are added to. */
  #anglesAt(cos: TorchTensor, sin: TorchTensor, positions: TorchTensor): readonly [TorchTensor, TorchTensor] {
    const known = this.#angles.get(cos);
    if (known) return known;
    const k = this.#kernels;
    const [batch, time] = positions.shape as [number, number];
    const angles = k.tidy(() => {
      const [cosines, sines] = [cos, sin].map((table) =>
        k.reshape(k.embedding(table, positions), [batch, 1, time, table.shape[1]!]),
      ) as [TorchTensor, TorchTensor];
      return [k.cat([cosines, cosines], 3), k.cat([k.unary('neg', sines), sines], 3)] as const;
    });
    this.#angles.set(cos, angles);
    return angles;
  }

  #logSoftmax(logits: TorchTensor): TorchTensor {
    if (this.#logs?.logits !== logits) {
      this.#forget();
      const logs = this.#kernels.tidy(() => this.#kernels.logSoftmax(this.#wide(logits)));
      this.#logs = { logits, logs };
    }
    return this.#logs.logs;
  }

  /** Within `tidy`, which frees them unless operations share them. */
  #probabilities(logs: TorchTensor): TorchTensor {
    if (this.#logs?.logs !== logs) return this.#kernels.unary('exp', logs);
    this.#logs.probabilities ??= this.#kernels.outside(() => this.#kernels.unary('exp', logs));
    return this.#logs.probabilities;
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
    const y = name === 'softmax' ? k.tidy(() => k.softmax(this.#wide(x))) : k.unary(name, x);
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

  /** A shape in numbers: names of inputs' dimensions, sums and parts of them, and one dimension to infer from the size. */
  #resolve(shape: readonly Dim[], like?: readonly number[], size?: number): number[] {
    const known = shape.map((dim, axis) => (typeof dim === 'number' ? dim : this.#length(dim, like?.[axis])));
    const at = known.indexOf(undefined);
    if (at < 0) return known as number[];
    const others = known.reduce<number>((product, dim) => product * (dim ?? 1), 1);
    return known.map((dim) => dim ?? (others === 0 ? 0 : size! / others));
  }

  #length(name: string, otherwise?: number): number | undefined {
    const known = this.#dims.get(name);
    if (known !== undefined) return known;
    if (name.includes('+')) {
      const terms = name.split('+').map((term) => (/^\d+$/.test(term) ? Number(term) : this.#length(term)));
      return terms.every((term) => term !== undefined)
        ? terms.reduce((sum, term) => sum! + term!, 0)
        : otherwise;
    }
    const [, whole, parts] = /^(.+)\/(\d+)$/.exec(name) ?? [];
    const length = whole === undefined ? undefined : this.#length(whole);
    return length === undefined ? otherwise : length / Number(parts);
  }
}
