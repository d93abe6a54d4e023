/** Copy exercises: a list of names, then the same list again. The model learns to copy within a few hundred steps. */
import { createRng } from '@toolenv/core';
import type { Segments } from './lines.ts';

/** Endless lines. Only the repetition is learned, because the first half is random. */
export function* copyExercises(
  names: readonly string[],
  separator: string,
  seed: number,
): Generator<Segments, never, void> {
  const rng = createRng(seed, 'copy');
  for (;;) {
    const list = Array.from({ length: 6 + rng.int(12) }, () => rng.pick(names)).join(' ');
    yield {
      segments: [
        { text: list + separator, label: false },
        { text: list, label: true },
      ],
    };
  }
}
