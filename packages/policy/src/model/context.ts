/** Context: what the positions of a batch see of those before them. Training sees them in the batch; sampling sees a cache as well. */
export interface Context<T> {
  /** Attention of rotated queries [B, heads, T, D] over keys and values [B, key-value heads, T, D] → [B, heads, T, D]. */
  attend(layer: number, queries: T, keys: T, values: T): T;
  /** Σ taps[i] · x as it was i positions before, for x [N, C] and taps [1, C]. Before the first position it was 0. */
  convolve(layer: number, x: T, taps: readonly T[]): T;
  /** What the memory of each head gives the queries → [B, H, T, V]. */
  recall(layer: number, given: Recall<T>): T;
}

/** The delta rule with decay (arXiv 2412.06464): S ← e^decay · S; S ← S + k ⊗ rate · (v − S·k); the output is S·q. */
export interface Recall<T> {
  /** [B, H, T, K] */
  queries: T;
  /** [B, H, T, K] */
  keys: T;
  /** [B, H, T, V] */
  values: T;
  /** [N, H], from 0 to 1. */
  rates: T;
  /** [N, H], at most 0. */
  decays: T;
}
