/** One token's contribution to a loss, with its derivatives. */
export interface TokenLoss {
  value: number;
  /** By log w, which depends on one log-probability or on a whole row of them. */
  dLogRatio: number;
  /** By the token's own log-probability, w held still. */
  dLogprob: number;
}
