/** The mask of a trainer that does not tell the policy's tokens from the environment's: for ablations only. */

/**
 * 1 from the first token that the policy generated to the last, the environment's tokens between them included.
 * @param mask [T] 1 where the policy generated the token.
 */
export function completionMask(mask: Uint8Array): Uint8Array {
  const wide = new Uint8Array(mask.length);
  const first = mask.indexOf(1);
  return first === -1 ? wide : wide.fill(1, first, mask.lastIndexOf(1) + 1);
}
