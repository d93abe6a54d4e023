/** NamedDims: the numbers behind the names of dimensions, which the inputs of a run have. */
import type { Dim } from '@toolenv/policy/runtime';

export class NamedDims {
  readonly #known: Map<string, number> = new Map();

  /** Learns the names in the shape of an input, and gives its shape in numbers. */
  ofInput(shape: readonly Dim[], found: readonly number[]): number[] {
    for (const [axis, dim] of shape.entries())
      if (typeof dim === 'string' && !this.#known.has(dim)) this.#known.set(dim, found[axis] ?? 1);
    return this.resolve(shape, { like: found });
  }

  /** A shape in numbers: names of inputs' dimensions, sums and parts of them, and one dimension to infer from the size. */
  resolve(shape: readonly Dim[], { like, size }: { like?: readonly number[]; size?: number } = {}): number[] {
    const known = shape.map((dim, axis) => (typeof dim === 'number' ? dim : this.#length(dim, like?.[axis])));
    const at = known.indexOf(undefined);
    if (at < 0) return known as number[];
    const others = known.reduce<number>((product, dim) => product * (dim ?? 1), 1);
    return known.map((dim) => dim ?? (others === 0 ? 0 : size! / others));
  }

  #length(name: string, otherwise?: number): number | undefined {
    const known = this.#known.get(name);
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
