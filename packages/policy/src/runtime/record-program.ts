/** A program as data: its operations in their order, for a runtime in another process, which has no closures. */
import type { Dim, ElementType, MatmulOptions, Ops, PooledAttention, Program } from './ops.ts';
import { broadcastShape, concatenatedDim, dividedDim, sameShape } from './shape.ts';

/** A value of a recorded program. The shape is what was known when it was recorded. */
export class Recorded {
  readonly id: number;
  readonly shape: readonly Dim[];

  constructor(id: number, shape: readonly Dim[]) {
    this.id = id;
    this.shape = shape;
  }
}

/** An argument in JSON. A value is `{ value: id }`. */
export type Argument =
  | number
  | string
  | boolean
  | null
  | { value: number }
  | readonly Argument[]
  | { readonly [name: string]: Argument };

export interface RecordedNode {
  operation: keyof Ops<unknown>;
  arguments: readonly Argument[];
  /** The ids of the values that the operation makes. */
  outputs: readonly number[];
  /** The function that the operation is given. */
  body?: RecordedBody;
}

/** A function, which may also use values from outside. */
export interface RecordedBody {
  parameters: readonly number[];
  nodes: readonly RecordedNode[];
  outputs: readonly number[];
}

export interface RecordedProgram {
  nodes: readonly RecordedNode[];
  outputs: Readonly<Record<string, number>>;
}

/** Equal inputs and scalars are recorded once. */
export function recordProgram(program: Program): RecordedProgram {
  const ops = new RecordingOps();
  const outputs = program<Recorded>(ops);
  return {
    nodes: ops.nodes,
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, { id }]) => [name, id])),
  };
}

class RecordingOps implements Ops<Recorded> {
  nodes: RecordedNode[] = [];
  readonly #known: Map<string, Recorded> = new Map();
  /** Inputs and scalars come first, because bodies use them too. */
  readonly #root: RecordedNode[] = this.nodes;
  #count = 0;

  input(name: string, type: ElementType, shape: readonly Dim[]): Recorded {
    return this.#once(`input ${name}`, 'input', [name, type, shape], shape);
  }

  scalar(value: number): Recorded {
    return this.#once(`scalar ${value}`, 'scalar', [value], []);
  }

  shapeOf(x: Recorded): readonly Dim[] {
    return x.shape;
  }

  add(a: Recorded, b: Recorded): Recorded {
    return this.#binary('add', a, b);
  }

  sub(a: Recorded, b: Recorded): Recorded {
    return this.#binary('sub', a, b);
  }

  mul(a: Recorded, b: Recorded): Recorded {
    return this.#binary('mul', a, b);
  }

  div(a: Recorded, b: Recorded): Recorded {
    return this.#binary('div', a, b);
  }

  neg(x: Recorded): Recorded {
    return this.#node('neg', [x], x.shape);
  }

  exp(x: Recorded): Recorded {
    return this.#node('exp', [x], x.shape);
  }

  sqrt(x: Recorded): Recorded {
    return this.#node('sqrt', [x], x.shape);
  }

  logSigmoid(x: Recorded): Recorded {
    return this.#node('logSigmoid', [x], x.shape);
  }

  relu(x: Recorded): Recorded {
    return this.#node('relu', [x], x.shape);
  }

  sum(x: Recorded, axes: readonly number[]): Recorded {
    const positive = axes.map((axis) => (axis + x.shape.length) % x.shape.length);
    const shape = x.shape.map((dim, axis) => (positive.includes(axis) ? 1 : dim));
    return this.#node('sum', [x, positive], shape);
  }

  sumAll(x: Recorded): Recorded {
    return this.#node('sumAll', [x], []);
  }

  matmul(a: Recorded, b: Recorded, options: MatmulOptions = {}): Recorded {
    const rows = a.shape.at(options.transposeA ? -1 : -2)!;
    const columns = b.shape.at(options.transposeB ? -2 : -1)!;
    return this.#node('matmul', [a, b, { ...options }], [...a.shape.slice(0, -2), rows, columns]);
  }

  linear(x: Recorded, weight: Recorded, bias?: Recorded): Recorded {
    return this.#node('linear', bias ? [x, weight, bias] : [x, weight], [x.shape[0]!, weight.shape[0]!]);
  }

  reshape(x: Recorded, shape: readonly Dim[]): Recorded {
    return sameShape(x.shape, shape) ? x : this.#node('reshape', [x, shape], shape);
  }

  transpose(x: Recorded, order: readonly number[]): Recorded {
    return this.#node(
      'transpose',
      [x, order],
      order.map((axis) => x.shape[axis]!),
    );
  }

  concat(parts: readonly Recorded[], axis: number): Recorded {
    const { shape } = parts[0]!;
    const at = (axis + shape.length) % shape.length;
    const total = concatenatedDim(parts.map((part) => part.shape[at]!));
    return this.#node('concat', [parts, at], shape.with(at, total));
  }

  split(x: Recorded, axis: number, into: number | readonly Recorded[]): Recorded[] {
    const at = (axis + x.shape.length) % x.shape.length;
    const dim = x.shape[at]!;
    const sizes: Dim[] =
      typeof into === 'number'
        ? Array(into).fill(dividedDim(dim, into))
        : into.map(({ shape }) => shape[at]!);
    const shapes = sizes.map((size) => x.shape.with(at, size));
    return this.#nodes('split', [x, at, into], shapes);
  }

  gatherRows(table: Recorded, ids: Recorded, options: { distinct?: boolean } = {}): Recorded {
    return this.#node('gatherRows', [table, ids, { ...options }], [...ids.shape, ...table.shape.slice(1)]);
  }

  addRows(x: Recorded, ids: readonly Recorded[], parts: readonly Recorded[]): Recorded {
    return this.#node('addRows', [x, ids, parts], x.shape);
  }

  nonZeroRows(x: Recorded): Recorded[] {
    const lengths = Array.from({ length: x.shape[1] as number }, (_, column) => `rows ${column} of ${x.id}`);
    return this.#nodes(
      'nonZeroRows',
      [x],
      lengths.map((length) => [length]),
    );
  }

  keepLargest(x: Recorded, count: number): Recorded {
    return this.#node('keepLargest', [x, count], x.shape);
  }

  softmax(x: Recorded): Recorded {
    return this.#node('softmax', [x], x.shape);
  }

  logProbability(logits: Recorded, ids: Recorded): Recorded {
    return this.#node('logProbability', [logits, ids], ids.shape);
  }

  entropy(logits: Recorded): Recorded {
    return this.#node('entropy', [logits], logits.shape.slice(0, -1));
  }

  rmsNorm(x: Recorded, weight: Recorded, epsilon: number): Recorded {
    return this.#node('rmsNorm', [x, weight, epsilon], x.shape);
  }

  rotary(x: Recorded, positions: Recorded, cos: Recorded, sin: Recorded): Recorded {
    return this.#node('rotary', [x, positions, cos, sin], x.shape);
  }

  attention(queries: Recorded, keys: Recorded, values: Recorded, mask: Recorded, scale: number): Recorded {
    return this.#node('attention', [queries, keys, values, mask, scale], queries.shape);
  }

  causalAttention(queries: Recorded, keys: Recorded, values: Recorded, scale: number): Recorded {
    return this.#node('causalAttention', [queries, keys, values, scale], queries.shape);
  }

  treeAttention(
    queries: Recorded,
    keys: Recorded,
    values: Recorded,
    ends: Recorded,
    scale: number,
  ): Recorded {
    return this.#node('treeAttention', [queries, keys, values, ends, scale], queries.shape);
  }

  pooledAttention(
    { window, ...given }: PooledAttention<Recorded>,
    scale: number,
  ): [mixed: Recorded, keys: Recorded, values: Recorded] {
    const grown = given.pooledKeys.shape.with(0, 'grown rows').with(2, 'grown');
    const shapes = [given.queries.shape, grown, grown];
    const pooled = { ...given, ...(window !== undefined && { window }) };
    return this.#nodes('pooledAttention', [pooled, scale], shapes) as [Recorded, Recorded, Recorded];
  }

  swiglu(gate: Recorded, up: Recorded): Recorded {
    return this.#node('swiglu', [gate, up], gate.shape);
  }

  checkpoint(
    xs: readonly Recorded[],
    trained: readonly Recorded[],
    compute: (xs: readonly Recorded[]) => Recorded[],
  ): Recorded[] {
    const { body, outputs } = this.#body(xs, compute);
    const shapes = outputs.map(({ shape }) => shape);
    return this.#nodes('checkpoint', [xs, trained], shapes, body);
  }

  weightedSum(
    x: Recorded,
    trained: readonly Recorded[],
    compute: (x: Recorded) => Recorded[],
    slopes: readonly (Recorded | undefined)[],
  ): { sum: Recorded; outputs: Recorded[] } {
    const { body, outputs: inside } = this.#body([x], ([x]) => compute(x!));
    const shapes = inside.map(({ shape }) => shape);
    const given = slopes.map((slope) => slope ?? null);
    const [sum, ...outputs] = this.#nodes('weightedSum', [x, trained, given], [[], ...shapes], body);
    return { sum: sum!, outputs };
  }

  #body(
    xs: readonly Recorded[],
    compute: (xs: readonly Recorded[]) => Recorded[],
  ): { body: RecordedBody; outputs: readonly Recorded[] } {
    const outside = this.nodes;
    const parameters = xs.map(({ shape }) => new Recorded(this.#count++, shape));
    this.nodes = [];
    const outputs = compute(parameters);
    const body = {
      parameters: parameters.map(({ id }) => id),
      nodes: this.nodes,
      outputs: outputs.map(({ id }) => id),
    };
    this.nodes = outside;
    return { body, outputs };
  }

  #binary(operation: 'add' | 'sub' | 'mul' | 'div', a: Recorded, b: Recorded): Recorded {
    return this.#node(operation, [a, b], broadcastShape(a.shape, b.shape));
  }

  /** The value of an equal node that is recorded already. */
  #once(
    key: string,
    operation: RecordedNode['operation'],
    given: readonly unknown[],
    shape: readonly Dim[],
  ): Recorded {
    const known = this.#known.get(key);
    if (known) return known;
    const value = new Recorded(this.#count++, shape);
    this.#root.push({ operation, arguments: given.map(argument), outputs: [value.id] });
    this.#known.set(key, value);
    return value;
  }

  #node(operation: RecordedNode['operation'], given: readonly unknown[], shape: readonly Dim[]): Recorded {
    return this.#nodes(operation, given, [shape])[0]!;
  }

  #nodes(
    operation: RecordedNode['operation'],
    given: readonly unknown[],
    shapes: readonly (readonly Dim[])[],
    body?: RecordedBody,
  ): Recorded[] {
    const values = shapes.map((shape) => new Recorded(this.#count++, shape));
    const outputs = values.map(({ id }) => id);
    this.nodes.push({ operation, arguments: given.map(argument), outputs, ...(body && { body }) });
    return values;
  }
}

function argument(given: unknown): Argument {
  if (given instanceof Recorded) return { value: given.id };
  if (Array.isArray(given)) return given.map(argument);
  if (typeof given === 'object' && given !== null)
    return Object.fromEntries(Object.entries(given).map(([name, each]) => [name, argument(each)]));
  return given as Argument;
}
