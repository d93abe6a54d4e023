/** Copy exercises: a list of names, then the same list again. The model learns to copy within a few hundred steps. */
import { createRng } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import type { Chat } from '@toolenv/policy';

/** Endless rows. The mask covers only the repetition, because the first half is random. */
export function* copyExercises(
  chat: Chat,
  names: readonly string[],
  seed: number,
): Generator<TokenRow, never, void> {
  const rng = createRng(seed, 'copy');
  for (;;) {
    const list = chat.encode(Array.from({ length: 6 + rng.int(12) }, () => rng.pick(names)).join(' '));
    const tokens = Int32Array.from([...list, chat.endTokens[0]!, ...list]);
    yield { tokens, mask: new Uint8Array(tokens.length).fill(1, list.length + 1) };
  }
}
