/** Collects the nodes of an ONNX graph: names and shapes. Nothing is computed here. */
import { getOrInsert } from '../get-or-insert.ts';
import type { Dim, ElementType } from '../ops.ts';
import { bytesOf, type Tensor } from '../runtime.ts';
import { sizeOf } from '../shape.ts';
import { DimensionNames } from './dimension-names.ts';
import {
  type AttributeProto,
  dataType,
  encodeModel,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from './onnx-proto.ts';

/** A tensor in the graph. */
export interface Value {
  readonly name: string;
  readonly type: ElementType | 'int64' | 'float16' | 'uint8' | 'bool';
  readonly shape: readonly Dim[];
}

export type Attributes = Readonly<Record<string, number | string | readonly number[]>>;

/** Attributes that are floats, even if the number is whole. */
const floats = new Set(['alpha', 'epsilon', 'scale']);
/** ONNX Runtime's own operators, which are in the domain `com.microsoft`. */
const ofMicrosoft = new Set([
  'FusedMatMul',
  'GroupQueryAttention',
  'MatMulNBits',
  'QuickGelu',
  'RotaryEmbedding',
  'SkipSimplifiedLayerNormalization',
]);

export interface BuiltModel {
  model: Uint8Array;
  inputs: string[];
  /** Constants that ONNX Runtime reads where they are, because a model with all weights would exceed the 2 GiB of a message. */
  externalData: { path: string; data: Uint8Array }[];
}

export class GraphBuilder {
  readonly inputs: Map<string, Value> = new Map();
  #nodes: NodeProto[] = [];
  #initializers: TensorProto[] = [];
  #constants: Map<string, Value> = new Map();
  #external: Map<string, Value & { data: ArrayBufferView }> = new Map();
  /** What nodes compute. */
  readonly #values: Value[] = [];
  readonly dimensions: DimensionNames = new DimensionNames();
  #count = 0;

  input(name: string, type: Value['type'], shape: readonly Dim[]): Value {
    return getOrInsert(this.inputs, name, () => ({ name, type, shape }));
  }

  /** A constant. Equal constants are stored once. */
  constant(type: ElementType | 'int64', shape: readonly number[], numbers: readonly number[]): Value {
    return getOrInsert(this.#constants, `${type}[${shape}]${numbers}`, () => {
      const array =
        type === 'float32'
          ? Float32Array.from(numbers)
          : type === 'int32'
            ? Int32Array.from(numbers)
            : BigInt64Array.from(numbers, BigInt);
      const name = `constant${this.#count++}`;
      const rawData = new Uint8Array(array.buffer);
      this.#initializers.push({ name, dataType: dataType[type], dims: shape, rawData });
      return { name, type, shape };
    });
  }

  /** A constant by name, whose numbers stay where they are until the model has been loaded. */
  external(
    name: string,
    type: Value['type'],
    shape: readonly number[],
    data: Tensor['data'] | Uint8Array,
  ): Value {
    return getOrInsert(this.#external, name, () => ({ name, type, shape, data }));
  }

  /** The bytes of inputs and named constants whose shapes are known. */
  get weightBytes(): number {
    const known = [...this.inputs.values()].flatMap(({ type, shape }) =>
      shape.every((dim) => typeof dim === 'number') ? (type === 'float16' ? 2 : 4) * sizeOf(shape) : [],
    );
    const named = [...this.#external.values()].map(({ data }) => data.byteLength);
    return [...known, ...named].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** A node with one output of the given type and shape. */
  node(
    opType: string,
    inputs: readonly Value[],
    type: Value['type'],
    shape: readonly Dim[],
    attributes?: Attributes,
  ): Value {
    return this.nodes(opType, inputs, [{ type, shape }], attributes)[0]!;
  }

  /** A node with several outputs. An output with the name '' is left out; without a name, it gets one. */
  nodes(
    opType: string,
    inputs: readonly Value[],
    outputs: readonly { name?: string; type: Value['type']; shape: readonly Dim[] }[],
    attributes: Attributes = {},
  ): Value[] {
    const values = outputs.map((output) => ({ name: `${opType}${this.#count++}`, ...output }));
    this.#values.push(...values);
    this.#nodes.push({
      opType,
      domain: ofMicrosoft.has(opType) ? 'com.microsoft' : '',
      input: inputs.map(({ name }) => name),
      output: values.map(({ name }) => name),
      attribute: Object.entries(attributes).map(([name, value]) => attribute(name, value)),
    });
    return values;
  }

  /** Takes back the node that computes `value`, for a node that will. Returns false, and keeps the node, if others read the value already. */
  takeBack({ name }: Value): boolean {
    const at = this.#nodes.findLastIndex(({ output }) => output.includes(name));
    if (this.#nodes.slice(at).some(({ input }) => input.includes(name))) return false;
    this.#nodes.splice(at, 1);
    return true;
  }

  /** The encoded model with `outputs` under the given names, without the nodes, inputs and constants that no output needs. */
  build(outputs: Record<string, Value>): BuiltModel {
    const needed = new Set(Object.values(outputs).map(({ name }) => name));
    const node: NodeProto[] = [];
    for (const candidate of this.#nodes.toReversed()) {
      if (!candidate.output.some((name) => needed.has(name))) continue;
      for (const name of candidate.input) needed.add(name);
      node.push(candidate);
    }
    node.reverse();
    const renamed = new Map<string, string>();
    for (const [name, value] of Object.entries(outputs)) {
      const computed = node.some(({ output }) => output.includes(value.name));
      if (computed && !renamed.has(value.name)) renamed.set(value.name, name);
      else node.push({ opType: 'Identity', domain: '', input: [value.name], output: [name], attribute: [] });
    }
    const rename = (names: string[]) => names.map((name) => renamed.get(name) ?? name);
    const used = <V extends Value>(values: Iterable<V>) => [...values].filter(({ name }) => needed.has(name));
    const inputs = used(this.inputs.values());
    const external = used(this.#external.values());
    const model = encodeModel({
      name: 'toolenv',
      node: node.map((one) => ({ ...one, input: rename(one.input), output: rename(one.output) })),
      initializer: [
        ...this.#initializers.filter(({ name }) => needed.has(name)),
        ...external.map(externalTensor),
      ],
      input: inputs.map((value) => valueInfo(value.name, value)),
      output: Object.entries(outputs).map(([name, value]) => valueInfo(name, value)),
      valueInfo: this.#sureValues((name) => needed.has(name) && !renamed.has(name)),
    });
    return {
      model,
      inputs: inputs.map(({ name }) => name),
      externalData: external.map(({ name, data }) => ({ path: name, data: bytesOf(data) })),
    };
  }

  /** The values between nodes whose shapes are sure. */
  #sureValues(isUsed: (name: string) => boolean): ValueInfoProto[] {
    const shapes = [...this.inputs.values()].flatMap(({ shape }) => shape);
    const inputs = new Set(shapes.filter((dim) => typeof dim === 'string'));
    return this.#values
      .filter(({ name, shape }) => isUsed(name) && this.dimensions.areSure(shape, inputs))
      .map((value) => valueInfo(value.name, value));
  }
}

function externalTensor({ name, type, shape, data }: Value & { data: ArrayBufferView }): TensorProto {
  const externalData = [
    { key: 'location', value: name },
    { key: 'length', value: String(data.byteLength) },
  ];
  return { name, dataType: dataType[type], dims: shape as number[], externalData, dataLocation: 1 };
}

function attribute(name: string, value: Attributes[string]): AttributeProto {
  if (typeof value === 'string') return { name, type: 3, s: new TextEncoder().encode(value) };
  if (typeof value !== 'number') return { name, type: 7, ints: value };
  const isFloat = floats.has(name) || !Number.isInteger(value);
  return isFloat ? { name, type: 1, f: value } : { name, type: 2, i: value };
}

function valueInfo(name: string, { type, shape }: Value): ValueInfoProto {
  const dim = shape.map((size) => (typeof size === 'number' ? { dimValue: size } : { dimParam: size }));
  return { name, type: { tensorType: { elemType: dataType[type], shape: { dim } } } };
}
