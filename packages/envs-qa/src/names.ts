/** createNames: two-word names, each unique in its world. */
import type { Rng } from '@toolenv/core';
import { firstWords, secondWords } from './name-words.ts';

/** Returns a function that draws a new name at each call, without replacement, from all pairs of words. */
export function createNames(rng: Rng): () => string {
  const given = new Set<string>();
  return () => {
    for (;;) {
      const name = `${rng.pick(firstWords)} ${rng.pick(secondWords)}`;
      if (given.has(name)) continue;
      given.add(name);
      return name;
    }
  };
}
