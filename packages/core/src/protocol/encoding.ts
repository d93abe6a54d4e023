/** Encoding: conversations and texts as rows of tokens to learn from, in the format that the policy samples. */

/** One sequence of tokens to learn from. Both arrays have the same length T. */
export interface TokenRow {
  tokens: Int32Array;
  /** 1 where the policy generated the token; outputs and gradients exist only there. Position 0 must be 0. */
  mask: Uint8Array;
}

/** Text that is learned without a chat template, in pieces. */
export interface PlainText {
  segments: readonly { text: string /** Whether the policy learns to write the piece. */; learn: boolean }[];
  /** Whether the token that ends a turn follows. It is learned if the last piece is. */
  ends: boolean;
}

export interface EncodedRow extends TokenRow {
  /** [T] at mask = 1 the turn that the token belongs to, counting the assistant's messages or the learned pieces from 0; else −1. */
  turns: Int32Array;
}
