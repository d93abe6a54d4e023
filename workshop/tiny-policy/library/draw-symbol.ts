/** drawSymbol: a number, an id or a string of letters. Exercises draw new ones, because a model would learn those of a list by heart. */
import type { Rng } from '@toolenv/core';

export function drawSymbol(rng: Rng): string {
  const kind = rng.int(3);
  if (kind === 0) return String(rng.int(10 ** (1 + rng.int(4))));
  if (kind === 1) return `${rng.pick([...'ACK'])}${1000 + rng.int(9000)}`;
  return `=${Array.from({ length: 5 }, () => String.fromCharCode(97 + rng.int(26))).join('')}`;
}
