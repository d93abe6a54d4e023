/** TokenRow: one sequence of tokens to learn from. */

/** Both arrays have the same length T. */
export interface TokenRow {
  tokens: Int32Array;
  /** 1 where the policy generated the token; outputs and gradients exist only there. Position 0 must be 0. */
  mask: Uint8Array;
}
