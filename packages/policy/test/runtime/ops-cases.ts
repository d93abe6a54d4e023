/** One or more cases for every operation of Ops: the inputs, the expression, and the inputs to differentiate by. */
import { createRng } from '@toolenv/core';
import type { Dim, ElementType, Ops } from '../../src/runtime/ops.ts';
import { type Tensor, tensor } from '../../src/runtime/runtime.ts';

export interface Given {
  type: ElementType;
  /** The shape that the program declares. Names stand for dimensions that are known only at run time. */
  shape: readonly Dim[];
  value: Tensor;
}

export interface OpsCase {
  operation: keyof Ops<unknown>;
  title: string;
  inputs: Record<string, Given>;
  /** The inputs whose gradients are checked. */
  by: readonly string[];
  build<T>(ops: Ops<T>, inputs: Record<string, T>): T;
}

let drawn = 0;

/** Random numbers in [low, high), different at each call. `dims` gives the lengths of the dimensions that `shape` names. */
function random(
  shape: readonly Dim[],
  { low = -1.5, high = 1.5, dims = {} as Record<string, number> } = {},
): Given {
  const resolved = shape.map((dim) => (typeof dim === 'number' ? dim : dims[dim]!));
  const rng = createRng(5, 'case', drawn++);
  const size = resolved.reduce((product, dim) => product * dim, 1);
  const data = Float32Array.from({ length: size }, () => low + (high - low) * rng.float());
  return { type: 'float32', shape, value: tensor(data, resolved) };
}

/** Given numbers. */
function fixed(shape: readonly Dim[], dims: readonly number[], values: readonly number[]): Given {
  return { type: 'float32', shape, value: tensor(Float32Array.from(values), dims) };
}

function ids(shape: readonly number[], values: readonly number[]): Given {
  return { type: 'int32', shape, value: tensor(Int32Array.from(values), shape) };
}

function unary(
  operation: 'neg' | 'exp' | 'logSigmoid' | 'sqrt' | 'softmax' | 'entropy' | 'sumAll',
  x: Given = random([3, 5]),
): OpsCase {
  return {
    operation,
    title: `[${x.shape}]`,
    inputs: { x },
    by: ['x'],
    build: (ops, { x }) => ops[operation](x!),
  };
}

function binary(operation: 'add' | 'sub' | 'mul' | 'div' | 'swiglu', a: Given, b: Given): OpsCase {
  const title = `[${a.shape}] and [${b.shape}]`;
  return {
    operation,
    title,
    inputs: { a, b },
    by: ['a', 'b'],
    build: (ops, { a, b }) => ops[operation](a!, b!),
  };
}

function everyBroadcast(operation: 'add' | 'sub' | 'mul' | 'div', low?: number, high?: number): OpsCase[] {
  const range = low === undefined ? {} : { low, high };
  const dims = { B: 2, T: 3 };
  return [
    binary(operation, random([2, 3]), random([2, 3], range)),
    binary(operation, random([2, 3]), random([], range)),
    binary(operation, random([]), random([2, 3], range)),
    binary(operation, random([2, 3, 4]), random([4], range)),
    binary(operation, random([3, 1]), random([2, 1, 4], range)),
    binary(operation, random(['B', 'T', 2], { dims }), random(['B', 1, 2], { dims, ...range })),
  ];
}

function matmul(
  a: Given,
  b: Given,
  options: { transposeA?: boolean; transposeB?: boolean; scale?: number } = {},
): OpsCase {
  const title = `[${a.shape}] × [${b.shape}] ${JSON.stringify(options)}`;
  const build: OpsCase['build'] = (ops, { a, b }) => ops.matmul(a!, b!, options);
  return { operation: 'matmul', title, inputs: { a, b }, by: ['a', 'b'], build };
}

const batch = { dims: { B: 2, T: 3 } };

export const opsCases: readonly OpsCase[] = [
  ...everyBroadcast('add'),
  ...everyBroadcast('sub'),
  ...everyBroadcast('mul'),
  ...everyBroadcast('div', 0.7, 2),
  unary('neg'),
  unary('exp'),
  unary('sqrt', random([3, 5], { low: 0.5, high: 2 })),
  binary('swiglu', random([3, 5], { low: -4, high: 4 }), random([3, 5])),
  unary('logSigmoid', random([3, 5], { low: -4, high: 4 })),
  unary('softmax'),
  unary('softmax', random(['B', 2, 'T', 4], batch)),
  unary('entropy'),
  unary('sumAll'),
  unary('sumAll', random(['B', 'T'], batch)),
  {
    operation: 'sum',
    title: 'over the last axis',
    inputs: { x: random([2, 3, 4]) },
    by: ['x'],
    build: (ops, { x }) => ops.sum(x!, [-1]),
  },
  {
    operation: 'sum',
    title: 'over the first and last axes',
    inputs: { x: random(['B', 3, 'T'], batch) },
    by: ['x'],
    build: (ops, { x }) => ops.sum(x!, [0, 2]),
  },
  matmul(random([2, 3]), random([3, 4])),
  matmul(random([2, 2, 3, 4]), random([2, 2, 4, 5])),
  matmul(random([2, 2, 4, 3]), random([2, 2, 4, 5]), { transposeA: true }),
  matmul(random(['B', 2, 'T', 4], batch), random(['B', 2, 'T', 4], batch), { transposeB: true, scale: 0.25 }),
  matmul(random([2, 4, 3]), random([2, 5, 4]), { transposeA: true, transposeB: true, scale: 2 }),
  {
    operation: 'linear',
    title: 'with bias',
    inputs: { x: random(['B', 4], batch), weight: random([5, 4]), bias: random([5]) },
    by: ['x', 'weight', 'bias'],
    build: (ops, { x, weight, bias }) => ops.linear(x!, weight!, bias!),
  },
  {
    operation: 'linear',
    title: 'without bias',
    inputs: { x: random([3, 4]), weight: random([5, 4]) },
    by: ['x', 'weight'],
    build: (ops, { x, weight }) => ops.linear(x!, weight!),
  },
  {
    operation: 'linear',
    title: 'with a large weight',
    inputs: { x: random([2, 300]), weight: random([256, 300]), bias: random([256]) },
    by: ['x', 'bias'],
    build: (ops, { x, weight, bias }) => ops.linear(x!, weight!, bias!),
  },
  {
    operation: 'reshape',
    title: 'with two dimensions known only at run time',
    inputs: { x: random(['B', 'T', 4], batch), y: random(['B', 'T', 2, 2], batch) },
    by: ['x'],
    build: (ops, { x, y }) => ops.mul(ops.reshape(x!, ['B', 'T', 2, 2]), y!),
  },
  {
    operation: 'transpose',
    title: 'of four axes',
    inputs: { x: random([2, 3, 4, 2]) },
    by: ['x'],
    build: (ops, { x }) => ops.transpose(x!, [2, 0, 3, 1]),
  },
  {
    operation: 'concat',
    title: 'of three along a middle axis',
    inputs: { a: random([2, 1, 3]), b: random([2, 2, 3]), c: random([2, 4, 3]) },
    by: ['a', 'b', 'c'],
    build: (ops, { a, b, c }) => ops.concat([a!, b!, c!], 1),
  },
  {
    operation: 'concat',
    title: 'along the last axis, with lengths known only at run time, the same tensor twice',
    inputs: { a: random([2, 'T'], batch), b: random([2, 'B'], batch) },
    by: ['a', 'b'],
    build: (ops, { a, b }) => ops.concat([a!, b!, a!], -1),
  },
  {
    operation: 'split',
    title: 'along the last axis, with lengths known only at run time',
    inputs: { a: random([2, 'B'], batch), b: random([2, 'T'], batch), y: random([2, 1]) },
    by: ['a', 'b', 'y'],
    build: (ops, { a, b, y }) => {
      const [first, second] = ops.split(ops.mul(ops.concat([a!, b!], -1), y!), -1, [a!, b!]);
      return ops.concat([ops.mul(second!, second!), first!], -1);
    },
  },
  {
    operation: 'split',
    title: 'into equal pieces, each scaled differently',
    inputs: { x: random(['B', 6], batch), y: random(['B', 2], batch) },
    by: ['x'],
    build: (ops, { x, y }) => {
      const [first, , third] = ops.split(x!, -1, 3);
      return ops.add(ops.mul(first!, first!), ops.mul(third!, y!));
    },
  },
  {
    operation: 'split',
    title: 'into sixteen equal pieces along the first axis',
    inputs: { x: random(['N', 2], { dims: { N: 32 } }), y: random([1, 2]) },
    by: ['x', 'y'],
    build: (ops, { x, y }) => {
      const pieces = ops.split(x!, 0, 16).map((piece, index) => ops.mul(piece, ops.scalar(1 + index)));
      return ops.add(ops.mul(pieces[1]!, y!), ops.sub(pieces[15]!, ops.mul(pieces[6]!, pieces[6]!)));
    },
  },
  {
    operation: 'split',
    title: 'of which one piece is not used',
    inputs: { x: random([5, 2]), a: random([2, 2]), b: random([3, 2]) },
    by: ['x'],
    build: (ops, { x, a, b }) => ops.split(x!, 0, [a!, b!])[1]!,
  },
  {
    operation: 'gatherRows',
    title: 'with repeated ids',
    inputs: { table: random([5, 3]), ids: ids([2, 3], [4, 0, 4, 4, 2, 0]) },
    by: ['table'],
    build: (ops, { table, ids }) => ops.gatherRows(table!, ids!),
  },
  {
    operation: 'gatherRows',
    title: 'with distinct ids',
    inputs: { table: random([5, 3]), ids: ids([3], [4, 0, 2]) },
    by: ['table'],
    build: (ops, { table, ids }) => ops.gatherRows(table!, ids!, { distinct: true }),
  },
  {
    operation: 'addRows',
    title: 'of two parts with a row in common, and of none',
    inputs: {
      x: random([5, 3]),
      first: ids([2], [4, 1]),
      second: ids([3], [0, 4, 2]),
      empty: ids([0], []),
      a: random([2, 3]),
      b: random([3, 3]),
      c: random([0, 3]),
    },
    by: ['x', 'a', 'b', 'c'],
    build: (ops, { x, first, second, empty, a, b, c }) =>
      ops.addRows(ops.mul(x!, x!), [first!, empty!, second!], [a!, c!, ops.mul(b!, b!)]),
  },
  {
    operation: 'keepLargest',
    title: 'two of five in each row',
    inputs: { x: fixed(['N', 5], [4, 5], [3, 1, 2, 5, 4, -1, -5, -3, -2, -4, 0, 2, 9, 7, 1, 6, 5, 4, 3, 2]) },
    by: ['x'],
    build: (ops, { x }) => ops.mul(ops.keepLargest(x!, 2), x!),
  },
  {
    operation: 'nonZeroRows',
    title: 'of which each column picks some, all or none',
    inputs: {
      x: fixed(['N', 3], [4, 3], [1, 0, 2, 0, 0, 3, 4, 0, 5, 0, 0, 6]),
      table: random(['N', 2], { dims: { N: 4 } }),
      weight: random([2, 2]),
    },
    by: ['table', 'weight'],
    build: (ops, { x, table, weight }) => {
      // A runtime without it computes all rows.
      const picked = ops.nonZeroRows?.(x!) ?? ops.split(x!, 1, 3);
      return picked.reduce(
        (sum, rows, column) => {
          if (!ops.nonZeroRows) {
            const factor = ops.div(rows, ops.add(rows, ops.scalar(1e-9)));
            return ops.add(
              sum,
              ops.mul(ops.mul(ops.linear(table!, weight!), ops.scalar(column + 1)), factor),
            );
          }
          const own = ops.linear(ops.gatherRows(table!, rows, { distinct: true }), weight!);
          return ops.addRows(sum, [rows], [ops.mul(own, ops.scalar(column + 1))]);
        },
        ops.mul(table!, table!),
      );
    },
  },
  {
    operation: 'logProbability',
    title: 'with repeated ids',
    inputs: { logits: random([4, 5]), ids: ids([4], [2, 0, 2, 4]) },
    by: ['logits'],
    build: (ops, { logits, ids }) => ops.logProbability(logits!, ids!),
  },
  {
    operation: 'attention',
    title: 'with more queries than keys and a mask that broadcasts',
    inputs: {
      queries: random(['B', 2, 'S', 4], { dims: { B: 2, S: 4 } }),
      keys: random(['B', 2, 'T', 4], batch),
      values: random(['B', 2, 'T', 4], batch),
      mask: random(['B', 1, 1, 'T'], batch),
    },
    by: ['queries', 'keys', 'values'],
    build: (ops, { queries, keys, values, mask }) => ops.attention(queries!, keys!, values!, mask!, 0.5),
  },
  {
    operation: 'attention',
    title: 'of six heads with three heads of keys, and a mask of each row',
    inputs: {
      queries: random(['B', 6, 'S', 4], { dims: { B: 2, S: 4 } }),
      keys: random(['B', 3, 'T', 4], batch),
      values: random(['B', 3, 'T', 4], batch),
      mask: random(['B', 1, 'S', 'T'], { dims: { ...batch.dims, S: 4 } }),
    },
    by: ['queries', 'keys', 'values'],
    build: (ops, { queries, keys, values, mask }) => ops.attention(queries!, keys!, values!, mask!, 0.5),
  },
  {
    operation: 'checkpoint',
    title: 'of a product and its exponential, the second of which has a gradient',
    inputs: { x: random(['B', 3], batch), weight: random([3]) },
    by: ['x', 'weight'],
    build: (ops, { x, weight }) =>
      ops.checkpoint([ops.add(x!, x!)], [weight!], ([sum]) => {
        const product = ops.mul(sum!, weight!);
        return [product, ops.exp(product)];
      })[1]!,
  },
  {
    operation: 'checkpoint',
    title: 'of a product of both of two inputs, and of one of them with a third',
    inputs: { a: random(['B', 3], batch), b: random(['B', 3], batch), c: random(['B', 3], batch) },
    by: ['a', 'b', 'c'],
    build: (ops, { a, b, c }) => {
      const outputs = ops.checkpoint([a!, ops.exp(b!)], [c!], ([a, b]) => [ops.mul(a!, b!), ops.mul(b!, c!)]);
      return ops.mul(outputs[0]!, outputs[1]!);
    },
  },
  ...[false, true].map(
    (isTwice): OpsCase => ({
      operation: 'weightedSum',
      title: `of a product and its exponential${isTwice ? ', twice' : ', one of which has no slope'}`,
      inputs: { x: random(['B', 3], batch), weight: random([3]), slope: random(['B', 3], batch) },
      by: ['x', 'weight'],
      build: (ops, { x, weight, slope }) => {
        const compute = (x: Parameters<typeof ops.mul>[0]) => {
          const product = ops.mul(x, weight!);
          return [product, ops.exp(product)];
        };
        const sumOf = (slopes: Parameters<typeof ops.weightedSum>[3]) =>
          ops.weightedSum(ops.add(x!, x!), [weight!], compute, slopes).sum;
        if (!isTwice) return sumOf([undefined, slope!]);
        return ops.mul(sumOf([slope!, slope!]), sumOf([slope!, undefined]));
      },
    }),
  ),
  {
    operation: 'rmsNorm',
    title: 'over the last axis',
    inputs: { x: random(['B', 3, 6], batch), weight: random([6]) },
    by: ['x', 'weight'],
    build: (ops, { x, weight }) => ops.rmsNorm(x!, weight!, 1e-6),
  },
  ...[false, true].map(
    (isRead): OpsCase => ({
      operation: 'rmsNorm',
      title: `of a sum that is read ${isRead ? 'before and after it' : 'after it'}`,
      inputs: { a: random(['B', 6], batch), b: random(['B', 6], batch), weight: random([6]) },
      by: ['a', 'b', 'weight'],
      build: (ops, { a, b, weight }) => {
        const sum = ops.add(a!, b!);
        const before = isRead ? ops.exp(sum) : a!;
        return ops.add(ops.mul(ops.rmsNorm(sum, weight!, 1e-6), before), sum);
      },
    }),
  ),
  {
    operation: 'rotary',
    title: 'at positions out of order',
    inputs: {
      x: random([2, 2, 3, 4]),
      positions: ids([2, 3], [0, 1, 2, 5, 3, 5]),
      cos: random([6, 2], { low: -1, high: 1 }),
      sin: random([6, 2], { low: -0.9, high: 1 }),
    },
    by: ['x'],
    build: (ops, { x, positions, cos, sin }) => ops.rotary(x!, positions!, cos!, sin!),
  },
  // The exponential of the smallest logits is 0 in float32.
  unary('entropy', random([3, 6], { low: -60, high: 60 })),
  {
    operation: 'logProbability',
    title: 'of logits far apart',
    inputs: { logits: random([3, 6], { low: -60, high: 60 }), ids: ids([3], [5, 0, 2]) },
    by: ['logits'],
    build: (ops, { logits, ids }) => ops.logProbability(logits!, ids!),
  },
];
