/** The mask of a trainer that treats the environment's tokens like the policy's own. For ablations only. */

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
