/** One token's contribution to a loss, with its derivatives. */
export interface TokenLoss {
  value: number;
  /** By log w, which depends on one log-probability or on those of a whole episode. Default 0. */
  dLogRatio?: number;
  /** By the token's own log-probability, w held still. Default 0. */
  dLogprob?: number;
  /** Those of the loss's `shares` that count this token. Default: none. */
  counts?: readonly string[];
}
