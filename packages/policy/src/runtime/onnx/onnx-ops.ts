/** Ops that emit nodes of an ONNX graph. Every operation also records how a gradient is pulled back through it. */
import type { DeviceName } from '../device-name.ts';
import { getOrInsert } from '../get-or-insert.ts';
import type { CachedAttention, Dim, ElementType, MatmulOptions, Ops } from '../ops.ts';
import type { CompileOptions, Precision } from '../runtime.ts';
import {
  broadcastAxes,
  broadcastShape,
  concatenatedDim,
  dividedDim,
  largestDivisor,
  sameShape,
  sizeOf,
} from '../shape.ts';
import { type Attributes, GraphBuilder, type Value } from './graph-builder.ts';
import { dataType } from './onnx-proto.ts';
import { blockSize, quantize } from './quantize.ts';
import { pullBack, type TapeEntry } from './tape.ts';
import * as webgpu from './webgpu-operations.ts';

type OpsOptions = Pick<CompileOptions, 'constants' | 'constantPrecision' | 'laidOut' | 'fewRows'>;

/** The gradient of an input from that of the only output. */
type Pullback = (gradient: Value) => Value;

export class OnnxOps implements Ops<Value> {
  readonly graph: GraphBuilder = new GraphBuilder();
  readonly tape: TapeEntry[] = [];
  #memo: Map<string, Value | Value[]> = new Map();
  /** A reshaped value's source: reshaping the value again starts from the source. */
  #unshaped: Map<Value, Value> = new Map();
  /** The terms of a sum that the norm of the sum may compute. */
  #terms: Map<Value, readonly Value[]> = new Map();
  /** The source of a rotated value, and the tables of the rotation, for attention that rotates by itself. */
  #unrotated: Map<Value, { x: Value; tables: readonly Value[] }> = new Map();
  /** What the last {@link OnnxOps.weightedSum} has computed, which the next waits for. */
  #ofLastSum: readonly Value[] = [];
  readonly #device: DeviceName;
  readonly #isWebGpu: boolean;
  readonly #precision: Precision;
  readonly #options: OpsOptions;

  /**
   * @param device The device that the graph will run on. Operations that WebGPU lacks are replaced.
   * @param precision The precision of matrix products. Everything else is computed in float32.
   * @param options Inputs that become constants of the graph, and inputs that are laid out.
   */
  constructor(device: DeviceName = 'cpu', precision: Precision = 'float32', options: OpsOptions = {}) {
    this.#device = device;
    this.#isWebGpu = device === 'webgpu';
    this.#precision = precision;
    this.#options = options;
  }

  input(name: string, type: ElementType, shape: readonly Dim[]): Value {
    const constant = this.#options.constants?.[name];
    if (constant) return this.graph.external(name, type, constant.dims, constant.data);
    // The shape remains that of the weight. `linear` knows by the name that the numbers are laid out.
    if (this.#isLaidOut(name))
      return { ...this.graph.input(name, this.#precision, shape.toReversed()), shape };
    return this.graph.input(name, type, shape);
  }

  scalar(value: number): Value {
    return this.graph.constant('float32', [], [value]);
  }

  shapeOf(x: Value): readonly Dim[] {
    return x.shape;
  }

  add(a: Value, b: Value): Value {
    const y = this.#binary('Add', a, b, [(g) => g, (g) => g]);
    if (this.#isWebGpu && y.shape.length === 2 && sameShape(a.shape, b.shape)) this.#terms.set(y, [a, b]);
    return y;
  }

  sub(a: Value, b: Value): Value {
    return this.#binary('Sub', a, b, [(g) => g, (g) => this.neg(g)]);
  }

  mul(a: Value, b: Value): Value {
    return this.#binary('Mul', a, b, [(g) => this.mul(g, b), (g) => this.mul(g, a)]);
  }

  div(a: Value, b: Value): Value {
    const toB = (g: Value, y: Value) => this.neg(this.div(this.mul(g, y), b));
    return this.#binary('Div', a, b, [(g) => this.div(g, b), toB]);
  }

  neg(x: Value): Value {
    return this.#record([x], this.#unary('Neg', x), [(g) => this.neg(g)]);
  }

  exp(x: Value): Value {
    const y = this.#unary('Exp', x);
    return this.#record([x], y, [(g) => this.mul(g, y)]);
  }

  sqrt(x: Value): Value {
    const y = this.#unary('Sqrt', x);
    return this.#record([x], y, [(g) => this.div(this.mul(g, this.scalar(0.5)), y)]);
  }

  logSigmoid(x: Value): Value {
    // log σ(x) = −log(1 + exp(−x)), and its slope is σ(−x).
    const softplus = (x: Value) => this.#unary('Softplus', x);
    const y = this.#unary('Neg', softplus(this.#unary('Neg', x)));
    return this.#record([x], y, [(g) => this.mul(g, this.#unary('Sigmoid', this.#unary('Neg', x)))]);
  }

  relu(x: Value): Value {
    return this.#unary('Relu', x);
  }

  sum(x: Value, axes: readonly number[]): Value {
    const positive = axes.map((axis) => (axis + x.shape.length) % x.shape.length);
    const shape = x.shape.map((dim, axis) => (positive.includes(axis) ? 1 : dim));
    const y = this.#reduceSum(x, positive, shape, 1);
    return this.#record([x], y, [(g) => this.#expand(g, x)]);
  }

  sumAll(x: Value): Value {
    const y = this.#reduceSum(x, [...x.shape.keys()], [], 0);
    return this.#record([x], y, [(g) => this.#expand(g, x)]);
  }

  matmul(
    a: Value,
    b: Value,
    { transposeA = false, transposeB = false, scale = 1, exact = false }: MatmulOptions = {},
  ): Value {
    const rows = a.shape.at(transposeA ? -1 : -2)!;
    const columns = b.shape.at(transposeB ? -2 : -1)!;
    const shape = [...a.shape.slice(0, -2), rows, columns];
    const operands = this.#isWebGpu
      ? webgpu.matmulOperands(this.graph, [a, b], { transposeA, transposeB, scale })
      : [a, b];
    const isPlain = this.#isWebGpu || (!transposeA && !transposeB && scale === 1);
    const attributes = { transA: Number(transposeA), transB: Number(transposeB), alpha: scale };
    const [opType, own] = isPlain ? ['MatMul', {}] : ['FusedMatMul', attributes];
    if (exact) return this.graph.node(opType, operands, 'float32', shape, own);
    const y = this.#product(opType, operands, shape, own);
    return this.#record([a, b], y, [
      (g) =>
        transposeA
          ? this.matmul(b, g, { transposeA: transposeB, transposeB: true, scale })
          : this.matmul(g, b, { transposeB: !transposeB, scale }),
      (g) =>
        transposeB
          ? this.matmul(g, a, { transposeA: true, transposeB: transposeA, scale })
          : this.matmul(a, g, { transposeA: !transposeA, scale }),
    ]);
  }

  linear(x: Value, weight: Value, bias?: Value): Value {
    if (this.#isQuantized(weight)) {
      const y = this.#quantizedLinear(x, weight);
      return bias ? this.add(y, bias) : y;
    }
    if (this.#options.fewRows) return this.#linearOfFew(x, weight, bias);
    const turned = this.#turned(weight);
    const y = this.#product(
      'Gemm',
      [x, turned ?? weight, ...(bias ? [bias] : [])],
      [x.shape[0]!, weight.shape[0]!],
      turned ? {} : { transB: 1 },
    );
    return this.#record(bias ? [x, weight, bias] : [x, weight], y, [
      (g) => this.#product('Gemm', [g, weight], x.shape),
      (g) => this.#product('Gemm', [g, x], weight.shape, { transA: 1 }),
      bias && ((g) => this.#unbroadcast(g, bias)),
    ]);
  }

  /** The product with the weight on the left, which is read as it lies. ONNX Runtime would transpose the right operand in each run. */
  #linearOfFew(x: Value, weight: Value, bias?: Value): Value {
    const y = this.transpose(this.matmul(weight, x, { transposeB: true }), [1, 0]);
    return bias ? this.add(y, bias) : y;
  }

  /** The transpose of a weight [out, in], if the product with it is faster. */
  #turned(weight: Value): Value | undefined {
    if (this.#isLaidOut(weight.name)) return weight;
    const isLarge = sizeOf(weight.shape as readonly number[]) >= webgpu.minTransposed;
    return this.#isWebGpu && isLarge ? this.#layOut(weight) : undefined;
  }

  get layOut(): Ops<Value>['layOut'] {
    return this.#isWebGpu ? (weight) => this.#layOut(weight) : undefined;
  }

  /** Transposed, in the precision of products. */
  #layOut(weight: Value): Value {
    return webgpu.transposed(this.graph, this.#cast(weight, this.#precision));
  }

  #isLaidOut(name: string): boolean {
    return this.#options.laidOut?.(name) ?? false;
  }

  reshape(x: Value, shape: readonly Dim[]): Value {
    if (sameShape(x.shape, shape)) return x;
    const source = this.#unshaped.get(x) ?? x;
    this.graph.dimensions.note(x.shape, shape);
    const y = this.graph.node('Reshape', [source, this.#shapeVector(shape)], x.type, shape);
    this.#unshaped.set(y, source);
    return this.#record([x], y, [(g) => this.reshape(g, x.shape)]);
  }

  transpose(x: Value, order: readonly number[]): Value {
    const shape = order.map((axis) => x.shape[axis]!);
    const moved = order.filter((axis) => x.shape[axis] !== 1);
    // An axis of length 1 can move without moving a number.
    if (moved.every((axis, index) => index === 0 || axis > moved[index - 1]!)) return this.reshape(x, shape);
    const y = this.graph.node('Transpose', [x], x.type, shape, { perm: order });
    const back = order.map((_, axis) => order.indexOf(axis));
    return this.#record([x], y, [(g) => this.transpose(g, back)]);
  }

  concat(parts: readonly Value[], axis: number): Value {
    const first = parts[0]!;
    const at = (axis + first.shape.length) % first.shape.length;
    const sizes = parts.map(({ shape }) => shape[at]!);
    const shape = first.shape.with(at, concatenatedDim(sizes));
    const y = this.graph.node('Concat', parts, first.type, shape, { axis: at });
    const pieces = (g: Value) => this.#once(`pieces ${y.name} ${g.name}`, () => this.split(g, at, parts));
    const pullbacks = parts.map((_, index) => (g: Value) => pieces(g)[index]!);
    return this.#record(parts, y, pullbacks);
  }

  split(x: Value, axis: number, into: number | readonly Value[]): Value[] {
    const at = (axis + x.shape.length) % x.shape.length;
    const equal = typeof into === 'number';
    const groups = equal && this.#isWebGpu ? largestDivisor(into, webgpu.maxPieces) : into;
    if (equal && groups !== into && groups !== 1)
      return this.split(x, at, groups).flatMap((group) => this.split(group, at, into / Number(groups)));
    const sizes = equal
      ? Array(into).fill(dividedDim(x.shape[at]!, into))
      : into.map(({ shape }) => shape[at]!);
    const outputs = sizes.map((size: Dim) => ({ type: x.type, shape: x.shape.with(at, size) }));
    const attributes: Attributes = equal ? { axis: at, num_outputs: into } : { axis: at };
    const inputs = equal ? [x] : [x, this.#sizes(into, at)];
    const pieces = this.graph.nodes('Split', inputs, outputs, attributes);
    const pull: TapeEntry['pull'] = (arriving) => {
      const all = pieces.map((piece, index) => arriving[index] ?? this.mul(piece, this.scalar(0)));
      // Unequal parts would give the concatenated gradient a sum of names for the length. The input has its own name for it.
      return [{ ...this.concat(all, at), shape: x.shape }];
    };
    this.tape.push({ inputs: [x], outputs: pieces, pull });
    return pieces;
  }

  gatherRows(table: Value, ids: Value, { distinct = false }: { distinct?: boolean } = {}): Value {
    const shape = [...ids.shape, ...table.shape.slice(1)];
    const y = this.graph.node('Gather', [table, ids], table.type, shape, { axis: 0 });
    const pullback = (g: Value) => {
      const gathered = ids.shape.length === 1 ? ids.shape[0]! : ids.shape.join('·');
      const flat = this.reshape(g, [gathered, ...table.shape.slice(1)]);
      const zeros = this.#zerosLike(table, ids);
      if (distinct) {
        const places = this.#idColumn(ids, [gathered, 1]);
        return this.graph.node(
          'ScatterND',
          [zeros, this.#cast(places, 'int64'), flat],
          'float32',
          table.shape,
        );
      }
      const column = this.#idColumn(ids, [gathered, ...table.shape.slice(1).map(() => 1)]);
      const indices = this.graph.node('Expand', [column, this.#runtimeShape(flat)], column.type, flat.shape);
      // ScatterND would add to one row from several threads at once, and lose some of the sum.
      return this.#addElements(zeros, indices, flat, 0);
    };
    return this.#record([table, ids], y, [pullback, undefined]);
  }

  addRows(x: Value, ids: readonly Value[], parts: readonly Value[]): Value {
    const attributes = { reduction: 'add' };
    const y = parts.reduce((sum, part, index) => {
      const places = this.#cast(this.reshape(ids[index]!, [ids[index]!.shape[0]!, 1]), 'int64');
      return this.graph.node('ScatterND', [sum, places, part], 'float32', x.shape, attributes);
    }, x);
    const toParts = ids.map((each) => (g: Value) => this.gatherRows(g, each));
    return this.#record([x, ...parts], y, [(g) => g, ...toParts]);
  }

  get nonZeroRows(): Ops<Value>['nonZeroRows'] {
    // On WebGPU each length would travel to the CPU and back before the next operation.
    return this.#isWebGpu ? undefined : (x) => this.#nonZeroRows(x);
  }

  #nonZeroRows(x: Value): Value[] {
    const columns = x.shape[1] as number;
    const first = this.graph.constant('int64', [], [0]);
    const pieces = this.graph.nodes(
      'Split',
      [x],
      Array.from({ length: columns }, () => ({ type: x.type, shape: [x.shape[0]!, 1] })),
      { axis: 1, num_outputs: columns },
    );
    return pieces.map((piece) => {
      const length = `rows of ${piece.name}`;
      const places = this.graph.node('NonZero', [piece], 'int64', [2, length]);
      const rows = this.graph.node('Gather', [places, first], 'int64', [length], { axis: 0 });
      return this.#cast(rows, 'int32');
    });
  }

  keepLargest(x: Value, count: number): Value {
    if (this.#isWebGpu) {
      const kept = webgpu.largest(this.graph, x, count);
      return this.#record([x], this.#elementwise('Mul', x, kept), [(g) => this.mul(g, kept)]);
    }
    const [rows, width] = x.shape as [Dim, number];
    const [largest, places] = this.graph.nodes(
      'TopK',
      [x, this.#ints([count])],
      [
        { type: x.type, shape: [rows, count] },
        { type: 'int64', shape: [rows, count] },
      ],
      { axis: 1 },
    ) as [Value, Value];
    const spread = (kept: Value) =>
      this.graph.node('ScatterElements', [this.#zerosLike(x, x), places, kept], x.type, [rows, width], {
        axis: 1,
      });
    return this.#record([x], spread(largest), [
      (g) => spread(this.graph.node('GatherElements', [g, places], g.type, places.shape, { axis: 1 })),
    ]);
  }

  softmax(x: Value): Value {
    const y = this.graph.node('Softmax', [x], 'float32', x.shape, { axis: -1 });
    return this.#record([x], y, [
      (g) => {
        const weighted = this.mul(g, y);
        return this.sub(weighted, this.mul(y, this.sum(weighted, [-1])));
      },
    ]);
  }

  logProbability(logits: Value, ids: Value): Value {
    const index = this.reshape(ids, [ids.shape[0]!, 1]);
    const inputs = [this.#logSoftmax(logits), index];
    const picked = this.graph.node('GatherElements', inputs, 'float32', index.shape, { axis: 1 });
    const y = this.reshape(picked, ids.shape);
    const pullback = (g: Value) => {
      const column = this.reshape(g, index.shape);
      const spread = this.mul(this.#probabilities(logits), this.neg(column));
      return this.#addElements(spread, index, column, 1);
    };
    return this.#record([logits, ids], y, [pullback, undefined]);
  }

  entropy(logits: Value): Value {
    const logs = this.#logSoftmax(logits);
    const probabilities = this.#probabilities(logits);
    const column = this.neg(this.sum(this.mul(probabilities, logs), [-1]));
    const y = this.reshape(column, logits.shape.slice(0, -1));
    const pullback = (g: Value) => {
      const scaled = this.mul(this.neg(this.reshape(g, column.shape)), probabilities);
      return this.mul(scaled, this.add(logs, column));
    };
    return this.#record([logits], y, [pullback]);
  }

  rmsNorm(x: Value, weight: Value, epsilon: number): Value {
    const width = x.shape.at(-1) as number;
    const [y, inverseRoot] = this.#norm(x, weight, epsilon);
    const factors = () => this.#once(`factors ${y.name}`, () => webgpu.normFactors(this.graph, x, epsilon));
    const inverse = () => (this.#isWebGpu ? factors()[1] : inverseRoot);
    const scaled = (g: Value) => this.#once(`scaled ${y.name} ${g.name}`, () => this.mul(g, inverse()));
    /** g · x · inverse, whose sum is the weight's gradient. */
    const product = (g: Value) => this.#once(`product ${y.name} ${g.name}`, () => this.mul(scaled(g), x));
    return this.#record([x, weight], y, [
      (g) => {
        // The sum over the axis of product · weight is a matrix product with a vector.
        const sum = (options: MatmulOptions) =>
          this.matmul(product(g), this.reshape(weight, [width, 1]), options);
        const shareOf = (mean: Value) => this.mul(this.mul(inverse(), inverse()), mean);
        const share = this.#isWebGpu
          ? this.div(sum({ exact: true }), factors()[0])
          : shareOf(sum({ scale: 1 / width }));
        return this.sub(this.mul(scaled(g), weight), this.mul(x, share));
      },
      (g) => this.#unbroadcast(product(g), weight),
    ]);
  }

  /** The norm, and on the CPU 1 / sqrt(mean(x²) + epsilon). */
  #norm(x: Value, weight: Value, epsilon: number): [Value, Value] {
    const terms = this.#terms.get(x);
    const ofSum = terms && webgpu.normOfSum(this.graph, x, [terms, weight], epsilon);
    if (ofSum) return [ofSum, ofSum];
    const outputs = [x.shape, x.shape.with(-1, 1)].map((shape) => ({ type: 'float32' as const, shape }));
    const attributes = { axis: -1, epsilon };
    return this.graph.nodes('SimplifiedLayerNormalization', [x, weight], outputs, attributes) as [
      Value,
      Value,
    ];
  }

  rotary(x: Value, positions: Value, cos: Value, sin: Value): Value {
    const inputs = [x, this.#cast(positions, 'int64'), cos, sin];
    const y = this.graph.node('RotaryEmbedding', inputs, 'float32', x.shape);
    this.#unrotated.set(y, { x, tables: [cos, sin] });
    const backward = () => this.#once(`neg ${sin.name}`, () => this.neg(sin));
    // The transpose of a rotation is the rotation by the opposite angle.
    return this.#record([x], y, [(g) => this.rotary(g, positions, cos, backward())]);
  }

  attention(queries: Value, keys: Value, values: Value, mask: Value, scale: number): Value {
    const before = this.tape.length;
    const [batch, heads, time] = queries.shape as [Dim, number, Dim];
    const keyHeads = keys.shape[1] as number;
    // The queries of heads that share keys are rows of one product. A reshape copies the other dimensions, whatever their names.
    const headed = (x: Value, shape: readonly Dim[]) => {
      if (heads === keyHeads) return x;
      this.graph.dimensions.note(x.shape, shape);
      return this.graph.node('Reshape', [x, this.#ints([0, shape[1] as number, -1, 0])], x.type, shape);
    };
    const grouped = (x: Value) => headed(x, [batch, keyHeads, 'grouped', x.shape[3]!]);
    const ungrouped = (x: Value) => headed(x, [batch, heads, time, x.shape[3]!]);

    // WebGPU has no scaled products. One of the queries and one of the keys do for all products.
    const [given, factor] = this.#isWebGpu ? [this.mul(queries, this.scalar(scale)), 1] : [queries, scale];
    const asked = grouped(given);
    const probabilities = (mask: Value) => {
      const scores = this.matmul(asked, keys, { transposeB: true, scale: factor });
      return grouped(this.softmax(this.add(ungrouped(scores), mask)));
    };
    const mixed = this.matmul(probabilities(mask), values);
    // One entry is recorded for the whole: the entries of its parts would add their gradients a second time.
    this.tape.length = before;

    const arriving = (g: Value) => this.#once(`grouped ${g.name}`, () => grouped(g));
    // The probabilities are the largest tensor. They are computed again for the gradients, so that none are kept (arXiv 2205.14135).
    const again = (g: Value) =>
      this.#once(`probabilities ${mixed.name} ${g.name}`, () => probabilities(this.#after([g], mask)));
    // Σ over T of dP·P equals Σ over D of dY·Y (arXiv 2205.14135), which is a much smaller sum.
    const scoreGradient = (g: Value) =>
      this.#once(`scores ${mixed.name} ${g.name}`, () => {
        const toProbabilities = this.matmul(g, values, { transposeB: true });
        return this.mul(again(g), this.sub(toProbabilities, this.sum(this.mul(g, mixed), [-1])));
      });
    return this.#record([queries, keys, values], ungrouped(mixed), [
      (g) => ungrouped(this.matmul(scoreGradient(arriving(g)), keys, { scale })),
      (g) => this.matmul(scoreGradient(arriving(g)), asked, { transposeA: true, scale: factor }),
      (g) => this.matmul(again(arriving(g)), arriving(g), { transposeA: true }),
    ]);
  }

  get cachedAttention(): Ops<Value>['cachedAttention'] {
    return this.#isWebGpu ? (given, scale) => this.#cachedAttention(given, scale) : undefined;
  }

  #cachedAttention(
    { queries, keys, values, pastKeys, pastValues, lengths, room, window = -1 }: CachedAttention<Value>,
    scale: number,
  ): [mixed: Value, keys: Value, values: Value] | undefined {
    const [batch, heads, time, size] = queries.shape as [Dim, number, Dim, number];
    if (time !== 1 || size % webgpu.headWidthUnit !== 0) return undefined;
    const [turnedQueries, turnedKeys] = [queries, keys].map((x) => this.#unrotated.get(x));
    const [given, tables] =
      turnedQueries && turnedKeys
        ? [[turnedQueries.x, turnedKeys.x, values], turnedQueries.tables]
        : [[queries, keys, values], []];
    const flat = given.map((x) => this.reshape(x, [batch, 1, (x.shape[1] as number) * size]));
    const attributes = {
      num_heads: heads,
      kv_num_heads: keys.shape[1] as number,
      scale,
      local_window_size: window,
    };
    const inputs = [...flat, pastKeys, pastValues, lengths, room];
    const [mixed, ...grown] = webgpu.groupQueryAttention(this.graph, inputs, tables, attributes);
    return [this.reshape(mixed, queries.shape), ...grown];
  }

  swiglu(gate: Value, up: Value): Value {
    const silu = this.graph.node('QuickGelu', [gate], 'float32', gate.shape, { alpha: 1 });
    const y = this.#elementwise('Mul', silu, up);
    // silu'(gate) · up = (sigmoid + silu · (1 − sigmoid)) · up = y + sigmoid · (up − y).
    const slope = () => this.add(y, this.mul(this.#unary('Sigmoid', gate), this.sub(up, y)));
    return this.#record([gate, up], y, [(g) => this.mul(g, slope()), (g) => this.mul(g, silu)]);
  }

  /** Keeps the inputs of `compute` only. The nodes of `compute` are emitted again where the gradients arrive. */
  checkpoint(
    xs: readonly Value[],
    _trained: readonly Value[],
    compute: (xs: readonly Value[]) => Value[],
  ): Value[] {
    const { outputs, tape } = this.#recorded(compute, xs);
    const made = new Set(tape.flatMap(({ outputs }) => outputs));
    const inputs = [...new Set(tape.flatMap(({ inputs }) => inputs))].filter((input) => !made.has(input));
    const pull: TapeEntry['pull'] = (arriving, wanted) => {
      const start = this.#zeroAfter(arriving.filter((gradient) => gradient !== undefined));
      const tied = new Map(xs.map((x) => [x, this.#plus(start, x)]));
      const again = this.#recorded(compute, [...tied.values()]);
      const given = again.outputs.flatMap((output, index) =>
        arriving[index] ? [[output, arriving[index]] as const] : [],
      );
      const sources = inputs.filter(wanted);
      const asked = sources.map((input) => tied.get(input) ?? input);
      const found = pullBack(again.tape, new Map(given), asked, (a, b) => this.add(a, b));
      const gradientOf = (input: Value) => (wanted(input) ? found.get(tied.get(input) ?? input) : undefined);
      // All at once, so that what was computed again can be freed. A single x is what the rest of the pass waits for.
      const waits = (input: Value) => xs.length > 1 || input === xs[0];
      const others = xs.length > 1 ? sources : sources.filter((input) => input !== xs[0]);
      const zero = this.#zeroAfter(others.flatMap((input) => gradientOf(input) ?? []));
      return inputs.map((input) => {
        const gradient = gradientOf(input);
        return gradient && waits(input) ? this.#plus(zero, gradient) : gradient;
      });
    };
    const together = outputs.map((output, index) => this.#after(outputs.toSpliced(index, 1), output));
    this.tape.push({ inputs, outputs: together, pull });
    return together;
  }

  /** The gradients are computed with the outputs, and the next sum waits for them, so that what they need is freed before it. */
  weightedSum(
    x: Value,
    trained: readonly Value[],
    compute: (x: Value) => Value[],
    slopes: readonly (Value | undefined)[],
  ): { sum: Value; outputs: Value[] } {
    const start = this.tape.length;
    const own = this.#after(this.#ofLastSum, x);
    const { outputs, tape } = this.#recorded(([x]) => compute(x!), [own]);
    const weighted = outputs.flatMap((output, index) =>
      slopes[index] ? [[output, slopes[index]] as const] : [],
    );
    const sum = weighted
      .map(([output, slope]) => this.sumAll(this.mul(slope, output)))
      .reduce((total, term) => this.add(total, term));
    const found = pullBack(tape, new Map(weighted), [own, ...trained], (a, b) => this.add(a, b));
    const gradients = [own, ...trained].map((input) => found.get(input));
    this.#ofLastSum = [...outputs, ...gradients].filter((value) => value !== undefined);
    this.tape.length = start;
    const pull: TapeEntry['pull'] = ([arriving], wanted) =>
      [x, ...trained].map((input, index) => {
        const gradient = wanted(input) ? gradients[index] : undefined;
        return gradient && arriving !== this.scalar(1) ? this.mul(gradient, arriving!) : gradient;
      });
    this.tape.push({ inputs: [x, ...trained], outputs: [sum], pull });
    return { sum, outputs };
  }

  /** The outputs of `compute`, and its operations, which are taken off the tape. */
  #recorded(
    compute: (xs: readonly Value[]) => Value[],
    xs: readonly Value[],
  ): { outputs: Value[]; tape: TapeEntry[] } {
    const start = this.tape.length;
    const outputs = compute(xs);
    return { outputs, tape: this.tape.splice(start) };
  }

  /**
   * `x`, in a form that ONNX Runtime computes only after `values`: it adds 0 times their first rows. By itself it would compute what
   * is needed for the gradients before they arrive, keep it, and merge it with the nodes of the forward pass.
   */
  #after(values: readonly Value[], x: Value): Value {
    return this.#plus(this.#zeroAfter(values), x);
  }

  /** 0, computed after `values`; `undefined` if there are none. */
  #zeroAfter(values: readonly Value[]): Value | undefined {
    const start = this.tape.length;
    const zeros = values.map((value) => this.mul(this.sumAll(this.#firstRow(value)), this.scalar(0)));
    const zero = zeros.length > 0 ? zeros.reduce((sum, each) => this.add(sum, each)) : undefined;
    this.tape.length = start;
    return zero;
  }

  /** x + zero, which no gradient passes through. */
  #plus(zero: Value | undefined, x: Value): Value {
    return zero ? this.graph.node('Add', [x, zero], x.type, x.shape) : x;
  }

  #firstRow(x: Value): Value {
    if (x.shape.length < 2) return x;
    const first = this.graph.constant('int32', [1], [0]);
    return this.graph.node('Gather', [x, first], x.type, x.shape.with(0, 1), { axis: 0 });
  }

  #record(inputs: readonly Value[], output: Value, pullbacks: readonly (Pullback | undefined)[]): Value {
    const pull: TapeEntry['pull'] = ([gradient], wanted) =>
      inputs.map((input, index) => (wanted(input) ? pullbacks[index]?.(gradient!) : undefined));
    this.tape.push({ inputs, outputs: [output], pull });
    return output;
  }

  #once<Made extends Value | Value[]>(key: string, make: () => Made): Made {
    return getOrInsert(this.#memo as Map<string, Made>, key, make);
  }

  /** An elementwise operation. The pullbacks give gradients in the shape of the result. */
  #binary(
    opType: string,
    a: Value,
    b: Value,
    [toA, toB]: readonly [toA: Pullback, toB: (g: Value, y: Value) => Value],
  ): Value {
    const y = this.#elementwise(opType, a, b);
    return this.#record([a, b], y, [
      (g) => this.#unbroadcast(toA(g), a),
      (g) => this.#unbroadcast(toB(g, y), b),
    ]);
  }

  #elementwise(opType: string, a: Value, b: Value): Value {
    return this.graph.node(opType, [a, b], a.type, broadcastShape(a.shape, b.shape));
  }

  #unary(opType: string, x: Value): Value {
    return this.graph.node(opType, [x], x.type, x.shape);
  }

  #isQuantized({ name }: Value): boolean {
    const { constants, constantPrecision } = this.#options;
    return constantPrecision === 'int8' && constants?.[name] !== undefined;
  }

  /** The product with a constant in 8 bits, without a gradient. Blocks of `x` are rounded to 8 bits too, each row by itself. */
  #quantizedLinear(x: Value, { name }: Value): Value {
    const { data, dims } = this.#options.constants![name]!;
    const [rows, columns] = dims as [number, number];
    const blocks = Math.ceil(columns / blockSize);
    const [values, scales] = this.#once(`int8 ${name}`, () => {
      const quantized = quantize(data as Float32Array, columns);
      return [
        this.graph.external(`${name}.int8`, 'uint8', [rows, blocks, blockSize], quantized.values),
        this.graph.external(`${name}.scales`, 'float32', [rows * blocks], quantized.scales),
      ];
    }) as [Value, Value];
    const attributes = { K: columns, N: rows, bits: 8, block_size: blockSize, accuracy_level: 4 };
    return this.graph.node('MatMulNBits', [x, values, scales], 'float32', [x.shape[0]!, rows], attributes);
  }

  #product(opType: string, inputs: readonly Value[], shape: readonly Dim[], attributes?: Attributes): Value {
    const narrow = inputs.map((x) => this.#cast(x, this.#precision));
    // The CPU has no float16 products: ONNX Runtime would remove the casts, and the rounding with them.
    if (this.#precision === 'float16' && this.#device === 'cpu') {
      const rounded = narrow.map((x) => this.#cast(x, 'float32'));
      const y = this.graph.node(opType, rounded, 'float32', shape, attributes);
      return this.#cast(this.#cast(y, 'float16'), 'float32');
    }
    return this.#cast(this.graph.node(opType, narrow, this.#precision, shape, attributes), 'float32');
  }

  #cast(x: Value, type: Value['type']): Value {
    if (x.type === type) return x;
    const attributes = { to: dataType[type] };
    return this.#once(`${type} ${x.name}`, () => this.graph.node('Cast', [x], type, x.shape, attributes));
  }

  #reduceSum(x: Value, axes: readonly number[], shape: readonly Dim[], keepdims: 0 | 1): Value {
    return this.graph.node('ReduceSum', [x, this.#ints(axes)], 'float32', shape, { keepdims });
  }

  #logSoftmax(logits: Value): Value {
    const make = () =>
      this.#isWebGpu
        ? webgpu.logSoftmax(this.graph, logits)
        : this.graph.node('LogSoftmax', [logits], 'float32', logits.shape, { axis: -1 });
    return this.#once(`logSoftmax ${logits.name}`, make);
  }

  #probabilities(logits: Value): Value {
    return this.#once(`probabilities ${logits.name}`, () => this.#unary('Exp', this.#logSoftmax(logits)));
  }

  /** Ids in the shape that a scatter takes them in. WebGPU has no int64 kernels of Reshape and Expand, so there ids stay int32. */
  #idColumn(ids: Value, shape: readonly Dim[]): Value {
    return this.reshape(this.#isWebGpu ? ids : this.#cast(ids, 'int64'), shape);
  }

  /** `base` with numbers added to its elements at `indices` along `axis`. */
  #addElements(base: Value, indices: Value, added: Value, axis: number): Value {
    const attributes = { axis, reduction: 'add' };
    return this.graph.node('ScatterElements', [base, indices, added], 'float32', base.shape, attributes);
  }

  #ints(numbers: readonly number[]): Value {
    return this.graph.constant('int64', [numbers.length], numbers);
  }

  #runtimeShape(x: Value): Value {
    return this.#once(`shape ${x.name}`, () => this.graph.node('Shape', [x], 'int64', [x.shape.length]));
  }

  /**
   * @param changing A value whose length no program knows before it runs. ONNX Runtime would keep zeros of a known shape for as long as the
   * program, and copy them in each run: a hundred million bytes for a vocabulary.
   */
  #zerosLike(x: Value, changing: Value): Value {
    if (this.#isWebGpu) return webgpu.zeros(this.graph, x, this.#runtimeShape(x));
    const nothing = this.graph.node('Mul', [this.#lengthOf(changing, 0), this.#ints([0])], 'int64', [1]);
    const shape = this.graph.node('Add', [this.#runtimeShape(x), nothing], 'int64', [x.shape.length]);
    return this.graph.node('ConstantOfShape', [shape], 'float32', x.shape);
  }

  #expand(x: Value, like: Value): Value {
    return this.graph.node('Expand', [x, this.#runtimeShape(like)], 'float32', like.shape);
  }

  /** Sums a gradient over the axes along which `operand` was broadcast. */
  #unbroadcast(gradient: Value, operand: Value): Value {
    if (sameShape(gradient.shape, operand.shape)) return gradient;
    const extra = gradient.shape.length - operand.shape.length;
    const axes = broadcastAxes(gradient.shape, operand.shape);
    if (this.#isWebGpu && axes.length === extra) return this.#reduceSum(gradient, axes, operand.shape, 0);
    const kept = gradient.shape.map((dim, axis) => (axes.includes(axis) ? 1 : dim));
    return this.reshape(this.#reduceSum(gradient, axes, kept, 1), operand.shape);
  }

  /** The int64 vector of a shape. Named dimensions are read from an input that has the name; one other dimension may be inferred. */
  #shapeVector(shape: readonly Dim[]): Value {
    const names = shape.filter((dim) => typeof dim === 'string');
    if (names.length <= 1) return this.#ints(shape.map((dim) => (typeof dim === 'number' ? dim : -1)));
    return this.#once(`shape vector ${shape}`, () => {
      const parts = shape.map((dim) =>
        typeof dim === 'number' ? this.#ints([dim]) : (this.#dimension(dim) ?? this.#ints([-1])),
      );
      return this.graph.node('Concat', parts, 'int64', [shape.length], { axis: 0 });
    });
  }

  /** The int64 vector [length] of a named dimension, or `undefined` if no input has the name. */
  #dimension(name: string): Value | undefined {
    for (const input of this.graph.inputs.values()) {
      const axis = input.shape.indexOf(name);
      if (axis < 0) continue;
      return this.#once(`dimension ${name}`, () => this.#lengthOf(input, axis));
    }
    return undefined;
  }

  /** The int64 vector of the lengths of `parts` along `axis`. */
  #sizes(parts: readonly Value[], axis: number): Value {
    const dims = parts.map((part) => part.shape[axis]!);
    return this.#once(`sizes ${dims}`, () => {
      const lengths = dims.map((dim, index) =>
        typeof dim === 'number'
          ? this.#ints([dim])
          : (this.#dimension(dim) ?? this.#lengthOf(parts[index]!, axis)),
      );
      return this.graph.node('Concat', lengths, 'int64', [parts.length], { axis: 0 });
    });
  }

  #lengthOf(x: Value, axis: number): Value {
    return this.graph.node('Shape', [x], 'int64', [1], { start: axis, end: axis + 1 });
  }
}
