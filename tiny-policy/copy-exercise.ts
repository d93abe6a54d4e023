/** Copy exercises: a list of names, then the same list again. Copying forms within a few hundred steps of these. */
import type { Rng, TokenRow } from '@toolenv/core';
import type { Chat } from '@toolenv/policy';

/** A row whose mask covers the repetition only: its first half is random and teaches nothing. */
export function copyExercise(chat: Chat, names: readonly string[], rng: Rng): TokenRow {
  const list = chat.encode(Array.from({ length: 6 + rng.int(12) }, () => rng.pick(names)).join(' '));
  const tokens = Int32Array.from([...list, chat.endTokens[0]!, ...list]);
  const mask = new Uint8Array(tokens.length).fill(1, list.length + 1);
  return { tokens, mask };
}
