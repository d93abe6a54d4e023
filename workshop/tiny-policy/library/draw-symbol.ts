/**
 * drawSymbol: a number, an id, a string of letters, or an unknown name. Exercises draw new ones, because a model would learn those of a
 * list by heart. The names of people in test tasks are spelled too, because no training task has them.
 */
import type { Rng } from '@toolenv/core';
import { worldVocabulary } from '@toolenv/envs-qa';

export function drawSymbol(rng: Rng): string {
  const kind = rng.int(4);
  if (kind === 0) return String(rng.int(10 ** (1 + rng.int(4))));
  if (kind === 1) return `${rng.pick([...'ACK'])}${1000 + rng.int(9000)}`;
  if (kind === 2) return `=${letters(rng, 5)}`;
  return unknownName(rng);
}

/** Names of the worlds, each of which has a token. */
const known = worldVocabulary().filter((word) => /^[A-Z][a-z]{3}/.test(word));

/** A name that has a token, or an unknown name, which is spelled. */
export function drawName(rng: Rng): string {
  return rng.float() < 0.5 ? rng.pick(known) : unknownName(rng);
}

function unknownName(rng: Rng): string {
  return letters(rng, 1).toUpperCase() + letters(rng, 3 + rng.int(4));
}

function letters(rng: Rng, count: number): string {
  return Array.from({ length: count }, () => String.fromCharCode(97 + rng.int(26))).join('');
}
