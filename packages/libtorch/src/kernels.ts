/** Kernels: the operators of ATen that models need, over tensors whose shapes this side knows. Each gives a new tensor. */
import { type AdamWUpdate, broadcastShape, sizeOf } from '@toolenv/policy/runtime';
import { none, scalarTypes, type TorchLibrary, type TorchType } from './torch-library.ts';
import { TensorScope, TorchTensor } from './torch-tensor.ts';

const cpu = 0;
/** c10::ScalarType of 8 bytes, of which the smallest elements take a fourth. */
const [float64, wide] = [7n, 4];

export type Unary = 'neg' | 'exp' | 'sqrt' | 'rsqrt' | 'relu' | 'sigmoid' | 'silu' | 'log';

export type AttentionInputs = readonly [queries: TorchTensor, keys: TorchTensor, values: TorchTensor];

export class Kernels extends TensorScope {
  readonly library: TorchLibrary;

  constructor(library: TorchLibrary) {
    super();
    this.library = library;
  }

  /** A tensor that reads the numbers where they are. They must not move or change while it lives. */
  share(data: Float32Array | Int32Array, shape: readonly number[]): TorchTensor {
    const type = data instanceof Float32Array ? 'float32' : 'int32';
    const sizes = BigInt64Array.from(shape, BigInt);
    const given = [data, shape.length, sizes, stridesOf(shape), 0, scalarTypes[type], cpu, 0];
    return this.#new(this.library.direct('fromBlob', given), shape, type);
  }

  /** A tensor with copies of the numbers. */
  of(data: Float32Array | Int32Array, shape: readonly number[]): TorchTensor {
    const made = this.empty(shape, data instanceof Float32Array ? 'float32' : 'int32');
    const bytes = new Uint8Array(this.library.bytes(made.handle, data.byteLength));
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    return made;
  }

  /** A tensor without numbers yet. */
  empty(shape: readonly number[], type: TorchType = 'float32'): TorchTensor {
    const sizes = BigInt64Array.from(shape, BigInt);
    const given = [shape.length, sizes, stridesOf(shape), scalarTypes[type], cpu, 0];
    return this.#new(this.library.direct('empty', given), shape, type);
  }

  full(shape: readonly number[], value: number, type: TorchType = 'float32'): TorchTensor {
    const made = this.empty(shape, type);
    this.library.command('fill', made.handle, value);
    return made;
  }

  /** A copy in contiguous memory of its own. */
  clone(x: TorchTensor): TorchTensor {
    const made = this.empty(x.shape, x.type);
    this.copy(made, x);
    return made;
  }

  /** Overwrites a tensor, or the tensor that it is a part of. */
  copy(to: TorchTensor, from: TorchTensor): void {
    this.library.command('copy', to.handle, from.handle, 0);
  }

  /** Overwrites the parts of a tensor at int64 `index` [N] of its first axis. */
  copyRows(to: TorchTensor, index: TorchTensor, rows: TorchTensor): void {
    // ATen goes over all parts once for each of their elements. Wider elements are fewer.
    const isEven = to.shape.at(-1)! % wide === 0;
    const [target, source] = [to, rows].map((x) => (isEven ? this.#widened(x) : this.#own(x)));
    this.discard(this.library.call('aten::index_copy_', '', [target!, 0n, this.#own(index), source!]));
  }

  /** The same bytes as elements of 8 bytes. */
  #widened(x: TorchTensor): bigint {
    return this.library.call('aten::view', 'dtype', [this.#own(x), float64])[0]!;
  }

  /** The parts of a tensor at int64 `index` of an axis. */
  select(x: TorchTensor, axis: number, index: TorchTensor): TorchTensor {
    const given = [this.#own(x), BigInt(axis), this.#own(index)];
    return this.call('index_select', '', given, x.shape.with(axis, index.shape[0]!), x.type);
  }

  /** The numbers of a tensor, copied to JavaScript. */
  read(x: TorchTensor): Float32Array | Int32Array {
    const contiguous = this.contiguous(x);
    const bytes = this.library.bytes(contiguous.handle, 4 * sizeOf(x.shape)).slice(0);
    contiguous.drop();
    return x.type === 'int32' ? new Int32Array(bytes) : new Float32Array(bytes);
  }

  contiguous(x: TorchTensor): TorchTensor {
    return this.call('contiguous', '', [this.#own(x), 0n], x.shape, x.type);
  }

  /** a + alpha · b. */
  add(a: TorchTensor, b: TorchTensor, alpha = 1): TorchTensor {
    const made = this.library.direct('add', [a.handle, b.handle, alpha]);
    return this.#new(made, broadcast(a.shape, b.shape), promoted(a, b));
  }

  mul(a: TorchTensor, b: TorchTensor): TorchTensor {
    const made = this.library.direct('mul', [a.handle, b.handle]);
    return this.#new(made, broadcast(a.shape, b.shape), promoted(a, b));
  }

  /** a · b in the place of `into`, which has the shape of the result. */
  mulInto(into: TorchTensor, a: TorchTensor, b: TorchTensor): void {
    const given = [this.#own(a), this.#own(b), this.#own(into)];
    this.discard(this.library.call('aten::mul', 'out', given));
  }

  /** Adds factor [1] · a · b, in place. */
  addProduct(to: TorchTensor, factor: TorchTensor, a: TorchTensor, b: TorchTensor): void {
    const [sums, left, right] = [to, a, b].map((x) => this.library.list([this.#own(x)]));
    // The operator of single tensors takes a Scalar, which the interface cannot pass.
    const given = [sums!, left!, right!, this.#own(factor)];
    this.library.call('aten::_foreach_addcmul_', 'Tensor', given, 0);
  }

  div(a: TorchTensor, b: TorchTensor): TorchTensor {
    return this.call(
      'div',
      'Tensor',
      [this.#own(a), this.#own(b)],
      broadcast(a.shape, b.shape),
      promoted(a, b),
    );
  }

  unary(name: Unary, x: TorchTensor): TorchTensor {
    return this.call(name, '', [this.#own(x)], x.shape, x.type);
  }

  logSigmoid(x: TorchTensor): TorchTensor {
    const [y, buffer] = this.library.call('aten::log_sigmoid_forward', '', [this.#own(x)], 2);
    this.discard([buffer!]);
    return this.#new(y!, x.shape, x.type);
  }

  /** Over axes that are not negative. They are kept with length 1. */
  sum(x: TorchTensor, axes: readonly number[]): TorchTensor {
    const shape = x.shape.map((dim, axis) => (axes.includes(axis) ? 1 : dim));
    const list = this.library.optional(this.library.list(axes.map(BigInt)));
    return this.call('sum', 'dim_IntList', [this.#own(x), list, 1n, none], shape, x.type);
  }

  sumAll(x: TorchTensor): TorchTensor {
    return this.call('sum', '', [this.#own(x), none], [], x.type);
  }

  /** Products of matrices, with broadcast leading axes. */
  matmul(a: TorchTensor, b: TorchTensor): TorchTensor {
    const leading = broadcast(a.shape.slice(0, -2), b.shape.slice(0, -2));
    const shape = [...leading, a.shape.at(-2)!, b.shape.at(-1)!];
    const isPlain = a.shape.length === 2 && b.shape.length === 2;
    return this.call(isPlain ? 'mm' : 'matmul', '', [this.#own(a), this.#own(b)], shape, a.type);
  }

  /** x [N, in] · weight [out, in]ᵀ + bias [out]. */
  linear(x: TorchTensor, weight: TorchTensor, bias?: TorchTensor): TorchTensor {
    const optional = bias ? this.library.optional(this.#own(bias)) : none;
    const given = [this.#own(x), this.#own(weight), optional];
    return this.call('linear', '', given, [...x.shape.slice(0, -1), weight.shape[0]!], x.type);
  }

  reshape(x: TorchTensor, shape: readonly number[]): TorchTensor {
    const sizes = BigInt64Array.from(shape, BigInt);
    return this.#new(this.library.direct('reshape', [x.handle, sizes, shape.length]), shape, x.type);
  }

  permute(x: TorchTensor, order: readonly number[]): TorchTensor {
    const axes = BigInt64Array.from(order, BigInt);
    const shape = order.map((axis) => x.shape[axis]!);
    return this.#new(this.library.direct('permute', [x.handle, axes, order.length]), shape, x.type);
  }

  /** The last two axes swapped. */
  transposed(x: TorchTensor): TorchTensor {
    const axes = [...x.shape.keys()];
    return this.permute(x, [...axes.slice(0, -2), axes.length - 1, axes.length - 2]);
  }

  /** Repeats axes of length 1, without a copy. */
  expand(x: TorchTensor, shape: readonly number[]): TorchTensor {
    return this.call('expand', '', [this.#own(x), this.library.list(shape.map(BigInt)), 0n], shape, x.type);
  }

  cat(parts: readonly TorchTensor[], axis: number): TorchTensor {
    const handles = BigUint64Array.from(parts, ({ handle }) => handle);
    const length = parts.reduce((sum, { shape }) => sum + shape[axis]!, 0);
    const made = this.library.direct('cat', [handles, parts.length, axis]);
    const type = parts.some((part) => part.type === 'float32') ? 'float32' : parts[0]!.type;
    return this.#new(made, parts[0]!.shape.with(axis, length), type);
  }

  narrow(x: TorchTensor, axis: number, start: number, length: number): TorchTensor {
    const made = this.library.direct('narrow', [x.handle, axis, start, length]);
    return this.#new(made, x.shape.with(axis, length), x.type);
  }

  cast(x: TorchTensor, type: TorchType): TorchTensor {
    const wanted = this.library.optional(BigInt(scalarTypes[type]));
    const given = [this.#own(x), wanted, none, none, none, 0n, none];
    return this.call('_to_copy', '', given, x.shape, type);
  }

  embedding(table: TorchTensor, ids: TorchTensor): TorchTensor {
    const given = [this.#own(table), this.#own(ids), -1n, 0n, 0n];
    return this.call('embedding', '', given, [...ids.shape, ...table.shape.slice(1)], table.type);
  }

  /** Rows [.., D] summed at their int ids [..], in a table of `count` rows. */
  embeddingGradient(rows: TorchTensor, ids: TorchTensor, count: number): TorchTensor {
    const given = [this.#own(rows), this.#own(ids), BigInt(count), -1n, 0n];
    return this.call('embedding_dense_backward', '', given, [count, rows.shape.at(-1)!], rows.type);
  }

  softmax(x: TorchTensor): TorchTensor {
    return this.call('_softmax', '', [this.#own(x), -1n, 0n], x.shape);
  }

  softmaxGradient(g: TorchTensor, y: TorchTensor): TorchTensor {
    const given = [this.#own(g), this.#own(y), -1n, BigInt(scalarTypes.float32)];
    return this.call('_softmax_backward_data', '', given, y.shape);
  }

  logSoftmax(x: TorchTensor): TorchTensor {
    return this.call('_log_softmax', '', [this.#own(x), -1n, 0n], x.shape);
  }

  /** The largest `count` numbers of the last axis, and their int64 places. */
  largest(x: TorchTensor, count: number): [TorchTensor, TorchTensor] {
    const given = [this.#own(x), BigInt(count), -1n, 1n, 0n];
    const [values, places] = this.library.call('aten::topk', '', given, 2);
    const shape = x.shape.with(-1, count);
    return [this.#new(values!, shape, x.type), this.#new(places!, shape, 'int64')];
  }

  /** Elements along the last axis at int64 `index`. */
  gather(x: TorchTensor, index: TorchTensor): TorchTensor {
    return this.call('gather', '', [this.#own(x), -1n, this.#own(index), 0n], index.shape, x.type);
  }

  /** Adds elements along the last axis at int64 `index`, in place. */
  scatterAdd(x: TorchTensor, index: TorchTensor, added: TorchTensor): void {
    const given = [this.#own(x), -1n, this.#own(index), this.#own(added)];
    this.discard(this.library.call('aten::scatter_add_', '', given));
  }

  /**
   * The gradient of rows [N, D] that are divided by their root mean squares: rows normalised = x · inverse, with inverse [N, 1]. It is
   * that of weight normalisation (arXiv 1602.07868), of which ATen has an operator, with vectors of the length √D.
   */
  normalisedGradient(g: TorchTensor, normalised: TorchTensor, inverse: TorchTensor): TorchTensor {
    const [rows, width] = normalised.shape as [number, number];
    const length = Math.sqrt(width);
    const lengths = this.full([rows, 1], length);
    const scaled = this.mul(inverse, this.full([], length));
    const given = [g, normalised, scaled, lengths].map((each) => this.#own(each));
    const operator = 'aten::_weight_norm_interface_backward';
    const [toX, toLengths] = this.library.call(operator, '', [...given, 0n], 2);
    this.discard([toLengths!]);
    return this.#new(toX!, normalised.shape, 'float32');
  }

  siluGradient(g: TorchTensor, x: TorchTensor): TorchTensor {
    return this.call('silu_backward', '', [this.#own(g), this.#own(x)], x.shape, x.type);
  }

  /**
   * [B, H, S, D] by [B, K, T, D], where neighbouring heads share keys, with a mask that broadcasts to [B, H, S, T], causal, or whole: the outputs,
   * and the logarithms of the sums.
   */
  attention(
    [queries, keys, values]: AttentionInputs,
    mask: TorchTensor | 'causal' | 'whole',
    scale: number,
  ): [TorchTensor, TorchTensor] {
    const given = [
      ...[queries, keys, values].map((x) => this.#own(x)),
      ...this.#attentionOptions(mask, scale),
    ];
    const [output, logs] = this.library.call(
      'aten::_scaled_dot_product_flash_attention_for_cpu',
      '',
      given,
      2,
    );
    return [
      this.#new(output!, queries.shape, queries.type),
      this.#new(logs!, queries.shape.slice(0, -1), 'float32'),
    ];
  }

  /** The gradients of queries, keys and values. */
  attentionGradients(
    g: TorchTensor,
    inputs: AttentionInputs,
    [output, logs]: readonly [TorchTensor, TorchTensor],
    mask: TorchTensor | 'causal' | 'whole',
    scale: number,
  ): TorchTensor[] {
    const given = [
      ...[g, ...inputs, output, logs].map((x) => this.#own(x)),
      ...this.#attentionOptions(mask, scale),
    ];
    const operator = 'aten::_scaled_dot_product_flash_attention_for_cpu_backward';
    const found = this.library.call(operator, '', given, 3);
    return found.map((handle, index) => this.#new(handle, inputs[index]!.shape, inputs[index]!.type));
  }

  #attentionOptions(mask: TorchTensor | 'causal' | 'whole', scale: number): bigint[] {
    const { library } = this;
    const dropout = library.double(0);
    const given = typeof mask === 'string' ? none : library.optional(this.#own(mask));
    return [dropout, mask === 'causal' ? 1n : 0n, given, library.optional(library.double(scale))];
  }

  /** The Euclidean norm of all numbers. */
  norm(x: TorchTensor): number {
    const norm = this.tidy(() => {
      const flat = this.reshape(x, [sizeOf(x.shape)]);
      return this.unary('sqrt', this.call('dot', '', [this.#own(flat), this.#own(flat)], []));
    });
    const [value] = this.read(norm);
    norm.drop();
    return value!;
  }

  /** Updates the first and the last two lists in place. */
  adamw(
    [weights, gradients, means, variances]: readonly [
      TorchTensor[],
      TorchTensor[],
      TorchTensor[],
      TorchTensor[],
    ],
    { learningRate, beta1, beta2, epsilon, weightDecay, step, clip }: AdamWUpdate,
  ): void {
    const { library } = this;
    const listOf = (tensors: readonly TorchTensor[]) => library.list(tensors.map((each) => this.#own(each)));
    const [steps, scale] = [this.full([], step), this.full([], 1 / clip)];
    library.call(
      'aten::_fused_adamw_',
      '',
      [
        ...[weights, gradients, means, variances].map(listOf),
        listOf([]),
        listOf(weights.map(() => steps)),
        ...[learningRate, beta1, beta2, weightDecay, epsilon].map((each) => library.double(each)),
        0n,
        0n,
        clip === 1 ? none : library.optional(this.#own(scale)),
        none,
      ],
      0,
    );
    for (const each of [steps, scale]) each.drop();
  }

  /** An operator with one new tensor. Without a type: float32. */
  call(
    operator: string,
    overload: string,
    given: readonly bigint[],
    shape: readonly number[],
    type?: TorchType,
  ): TorchTensor {
    return this.#new(this.library.call(`aten::${operator}`, overload, given)[0]!, shape, type);
  }

  /** Frees handles that an operator in place has given. */
  discard(handles: readonly bigint[]): void {
    for (const handle of handles) this.library.delete(handle);
  }

  #own({ handle }: TorchTensor): bigint {
    return this.library.own(handle);
  }

  #new(handle: bigint, shape: readonly number[], type?: TorchType): TorchTensor {
    return this.note(new TorchTensor(this.library, handle, shape, type));
  }
}

function promoted(a: TorchTensor, b: TorchTensor): TorchType {
  if (a.type === b.type || b.shape.length === 0) return a.type;
  if (a.shape.length === 0) return b.type;
  return [a.type, b.type].includes('float32') ? 'float32' : a.type;
}

function broadcast(a: readonly number[], b: readonly number[]): number[] {
  return broadcastShape(a, b) as number[];
}

function stridesOf(shape: readonly number[]): BigInt64Array {
  const strides = new BigInt64Array(shape.length);
  let size = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = BigInt(size);
    size *= shape[axis]!;
  }
  return strides;
}
