/** checksum: tells whether the data of a resumed run are those that it began with. */
import type { TokenRow } from '@toolenv/core/learner';

/** 32 bits of all tokens and masks (FNV-1a). */
export function checksum(rows: readonly TokenRow[]): number {
  let hash = 0x811c9dc5;
  const add = (value: number) => {
    hash = Math.imul(hash ^ value, 0x01000193);
  };
  for (const { tokens, mask } of rows) {
    add(tokens.length);
    for (const token of tokens) add(token);
    for (const bit of mask) add(bit);
  }
  return hash >>> 0;
}
