/** Copy exercises: a list of words, then the same list again. The model learns to copy within a few hundred steps. */
import { createRng, type Rng } from '@toolenv/core';
import type { Segments } from './lines.ts';

/** Endless lines. Only the repetition is learned, because the first half is random. */
export function* copyExercises(
  draw: (rng: Rng) => string,
  separator: string,
  seed: number,
): Generator<Segments, never, void> {
  const rng = createRng(seed, 'copy');
  for (;;) {
    const list = Array.from({ length: 6 + rng.int(12) }, () => draw(rng)).join(' ');
    yield {
      segments: [
        { text: list + separator, label: false },
        { text: list, label: true },
      ],
    };
  }
}
