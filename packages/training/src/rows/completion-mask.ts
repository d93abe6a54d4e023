/** The mask and the advantages of a trainer that treats the environment's tokens like the policy's own. For ablations only. */
import type { TokenValues } from '@toolenv/core/learner';

/**
 * 1 from the first token that the policy generated to the last, including the environment's tokens between them. TRL's
 * completion mask; verl's response mask is the action mask.
 * @param mask [T] 1 where the policy generated the token.
 */
export function completionMask(mask: Uint8Array): Uint8Array {
  const wide = new Uint8Array(mask.length);
  const first = mask.indexOf(1);
  return first === -1 ? wide : wide.fill(1, first, mask.lastIndexOf(1) + 1);
}

/**
 * Advantages for the environment's tokens too: each has that of the action token before it, as in a trainer that gives every
 * token the advantage of its episode.
 * @param advantages [B][T] at `mask` = 1.
 * @param mask [B][T] 1 where the policy generated the token.
 * @returns [B][T] at the completion mask.
 */
export function carriedAdvantages(advantages: TokenValues, mask: readonly Uint8Array[]): Float64Array[] {
  return mask.map((row, b) => {
    let last = 0;
    const carried = completionMask(row);
    return Float64Array.from(row, (bit, t) => {
      if (bit === 1) last = advantages[b]![t]!;
      return carried[t] === 1 ? last : 0;
    });
  });
}
