/** Seeded randomness. Each stream is derived from a seed and a path of names, so that no stream depends on timing. */
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';

/** A seeded stream of random numbers. */
export interface Rng {
  /** A float in [0, 1), with 32 random bits. */
  float(): number;
  /** An integer in [0, bound). */
  int(bound: number): number;
  /** One element of a non-empty array. */
  pick<T>(items: readonly T[]): T;
  /** A shuffled copy (Fisher–Yates). */
  shuffle<T>(items: readonly T[]): T[];
}

/**
 * A 32-bit seed from a seed and a path: `deriveSeed(1, 'rollout', 3)`. Equal paths give equal seeds on every machine, so
 * concurrent episodes are reproducible in whatever order they finish. Hashes with FNV-1a and MurmurHash3's finalizer:
 * FNV alone gives `…, 3` and `…, 4` adjacent seeds, whose streams are correlated.
 */
export function deriveSeed(seed: number, ...path: (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const character of [seed, ...path].join('\u0000')) {
    hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  }
  return finalize(hash);
}

/** MurmurHash3's 32-bit finalizer: a bijection in which every input bit moves about half of the output bits. */
function finalize(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The stream at `path` under `seed`: xoroshiro128+ from four well-mixed words. */
export function createRng(seed: number, ...path: (string | number)[]): Rng {
  const root = deriveSeed(seed, ...path);
  const generator = xoroshiro128plusFromState([1, 2, 3, 4].map((k) => finalize(root + k * 0x9e3779b9) | 0));
  const float = () => (generator.next() >>> 0) / 0x1_0000_0000;
  const int = (bound: number) => Math.floor(float() * bound);
  return {
    float,
    int,
    pick: (items) => items[int(items.length)]!,
    shuffle: (items) => {
      const copy = [...items];
      for (let i = copy.length - 1; i > 0; i--) {
        const j = int(i + 1);
        [copy[i], copy[j]] = [copy[j]!, copy[i]!];
      }
      return copy;
    },
  };
}
