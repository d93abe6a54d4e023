/** Numbers, ids and strings of letters, for copy exercises. */
import { createRng } from '@toolenv/core';

export function symbols(seed: number, count: number): string[] {
  const rng = createRng(seed, 'symbols');
  const letters = (length: number) =>
    Array.from({ length }, () => String.fromCharCode(97 + rng.int(26))).join('');
  const kinds = [
    () => String(rng.int(10 ** (1 + rng.int(4)))),
    () => `${rng.pick([...'ACK'])}${1000 + rng.int(9000)}`,
    () => `=${letters(5)}`,
  ];
  return Array.from({ length: count }, () => rng.pick(kinds)());
}
