/** TokenLimit: which tokens may be drawn next in a sequence. */
export interface TokenLimit {
  /** A bit for each token of the vocabulary, 32 in an entry; `undefined` if all may be drawn. */
  readonly allowed: Uint32Array | undefined;
  /**
   * Goes on after a token, before the next is drawn.
   * @throws ToolEnvError if no token may follow.
   */
  accept(token: number): void;
}
