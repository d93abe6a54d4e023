/** Shapes, whose dimensions may have names. */
import type { Dim } from './ops.ts';

export type Shapes = ReadonlyMap<string, readonly number[]>;

/** The number of elements of a tensor. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1);
}

/** The largest divisor of `number` up to `limit`. */
export function largestDivisor(number: number, limit: number): number {
  let divisor = Math.min(number, Math.floor(limit));
  while (number % divisor !== 0) divisor -= 1;
  return divisor;
}

/** A shape with `rank` named dimensions of any length. Shapes with another `index` have other names. */
export function anyShape(rank: number, index = 0): string[] {
  return Array.from({ length: rank }, (_, axis) => `d${index}.${axis}`);
}

export function sameShape(a: readonly Dim[], b: readonly Dim[]): boolean {
  return a.length === b.length && a.every((dim, axis) => dim === b[axis]);
}

/** The length of concatenated dimensions: a sum, or the names joined. All equal parts of a dimension are the dimension. */
export function concatenatedDim(dims: readonly Dim[]): Dim {
  const [first] = dims;
  const end = `/${dims.length}`;
  if (typeof first === 'string' && first.endsWith(end) && dims.every((dim) => dim === first))
    return first.slice(0, -end.length);
  return dims.every((dim) => typeof dim === 'number')
    ? dims.reduce<number>((sum, dim) => sum + (dim as number), 0)
    : dims.join('+');
}

/** The length of each of `count` equal parts of a dimension. */
export function dividedDim(dim: Dim, count: number): Dim {
  return typeof dim === 'number' ? dim / count : `${dim}/${count}`;
}

/** The axes of a result along which an operand was broadcast. */
export function broadcastAxes(result: readonly Dim[], operand: readonly Dim[]): number[] {
  const extra = result.length - operand.length;
  return [...result.keys()].filter(
    (axis) => axis < extra || (operand[axis - extra] === 1 && result[axis] !== 1),
  );
}

/** Broadcasts two shapes as NumPy does. A name matches itself and 1. */
export function broadcastShape(a: readonly Dim[], b: readonly Dim[]): Dim[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, axis) => {
    const left = a[axis - rank + a.length] ?? 1;
    const right = b[axis - rank + b.length] ?? 1;
    if (left === right || right === 1) return left;
    if (left === 1) return right;
    throw new RangeError(`Shapes [${a}] and [${b}] do not broadcast: axis ${axis} is ${left} and ${right}.`);
  });
}
