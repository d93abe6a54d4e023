/** Collects the nodes of an ONNX graph: names and shapes. Nothing is computed here. */
import type { Dim, ElementType } from '../ops.ts';
import type { Tensors } from '../runtime.ts';
import {
  type AttributeProto,
  type AttributeValue,
  dataType,
  encodeModel,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from './onnx-proto.ts';

/** A tensor in the graph. */
export interface Value {
  readonly name: string;
  readonly type: ElementType | 'int64' | 'float16';
  readonly shape: readonly Dim[];
}

export interface NodeOptions {
  attributes?: Record<string, AttributeValue>;
  /** Names of attributes that are floats, even if the number is whole. */
  floats?: readonly string[];
  /** `com.microsoft` for ONNX Runtime's own operators. */
  domain?: string;
}

export class GraphBuilder {
  readonly inputs: Map<string, Value> = new Map();
  #nodes: NodeProto[] = [];
  #initializers: TensorProto[] = [];
  #constants: Map<string, Value> = new Map();
  #count = 0;

  input(name: string, type: ElementType, shape: readonly Dim[]): Value {
    const known = this.inputs.get(name);
    if (known) return known;
    const value: Value = { name, type, shape };
    this.inputs.set(name, value);
    return value;
  }

  /** A constant. Equal constants are stored once. */
  constant(type: ElementType | 'int64', shape: readonly number[], numbers: readonly number[]): Value {
    const key = `${type}[${shape}]${numbers}`;
    const known = this.#constants.get(key);
    if (known) return known;
    const array =
      type === 'float32'
        ? Float32Array.from(numbers)
        : type === 'int32'
          ? Int32Array.from(numbers)
          : BigInt64Array.from(numbers, BigInt);
    const value: Value = { name: `constant${this.#count++}`, type, shape };
    const rawData = new Uint8Array(array.buffer);
    this.#initializers.push({ name: value.name, dataType: dataType[type], dims: shape, rawData });
    this.#constants.set(key, value);
    return value;
  }

  /** A node with one output of the given type and shape. */
  node(
    opType: string,
    inputs: readonly Value[],
    type: Value['type'],
    shape: readonly Dim[],
    options?: NodeOptions,
  ): Value {
    return this.nodes(opType, inputs, [{ type, shape }], options)[0]!;
  }

  /** A node with several outputs. */
  nodes(
    opType: string,
    inputs: readonly Value[],
    outputs: readonly { type: Value['type']; shape: readonly Dim[] }[],
    { attributes = {}, floats = [], domain = '' }: NodeOptions = {},
  ): Value[] {
    const values = outputs.map((output) => ({ name: `${opType}${this.#count++}`, ...output }));
    this.#nodes.push({
      opType,
      domain,
      input: inputs.map(({ name }) => name),
      output: values.map(({ name }) => name),
      attribute: Object.entries(attributes).map(([name, value]) =>
        attribute(name, value, floats.includes(name)),
      ),
    });
    return values;
  }

  /**
   * The encoded model with `outputs` under the given names, without the nodes that no output needs, and the names of the inputs that
   * it needs. An input that is among `constants` becomes a constant of the model.
   */
  build(outputs: Record<string, Value>, constants: Tensors = {}): { model: Uint8Array; inputs: string[] } {
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
    const asked = [...this.inputs.values()].filter(({ name }) => needed.has(name));
    const inputs = asked.filter(({ name }) => !constants[name]);
    const builtIn = asked.flatMap(({ name, type }) => {
      const value = constants[name];
      if (!value) return [];
      const { buffer, byteOffset, byteLength } = value.data;
      return {
        name,
        dataType: dataType[type],
        dims: value.dims,
        rawData: new Uint8Array(buffer, byteOffset, byteLength),
      };
    });
    const model = encodeModel({
      name: 'toolenv',
      node: node.map((one) => ({ ...one, input: rename(one.input), output: rename(one.output) })),
      initializer: [...this.#initializers.filter(({ name }) => needed.has(name)), ...builtIn],
      input: inputs.map((value) => valueInfo(value.name, value)),
      output: Object.entries(outputs).map(([name, value]) => valueInfo(name, value)),
    });
    return { model, inputs: inputs.map(({ name }) => name) };
  }
}

function attribute(name: string, value: AttributeValue, float: boolean): AttributeProto {
  if (typeof value === 'string') return { name, type: 3, s: new TextEncoder().encode(value) };
  if (typeof value !== 'number') return { name, type: 7, ints: value };
  return float || !Number.isInteger(value) ? { name, type: 1, f: value } : { name, type: 2, i: value };
}

function valueInfo(name: string, { type, shape }: Value): ValueInfoProto {
  const dim = shape.map((size) => (typeof size === 'number' ? { dimValue: size } : { dimParam: size }));
  return { name, type: { tensorType: { elemType: dataType[type], shape: { dim } } } };
}
