/** Which tokens may be sampled: top-k, then the nucleus (arXiv 1904.09751), then min-p (arXiv 2407.01082), as in transformers. */

export interface Truncation {
  /** Keep this many of the likeliest tokens. Default: all. */
  topK?: number;
  /** Keep the fewest likeliest tokens whose probabilities add up to this share. Default 1: all. */
  topP?: number;
  /** Keep tokens whose probability is at least this share of the likeliest token's. Default 0: all. */
  minP?: number;
}

/** Whether the truncation can exclude a token of the vocabulary. */
export function truncates({ topK, topP = 1, minP = 0 }: Truncation, vocabulary: number): boolean {
  return (topK !== undefined && topK < vocabulary) || topP < 1 || minP > 0;
}

/**
 * The distribution [V] with 0 for tokens that may not be sampled. The other probabilities are not scaled up. The
 * likeliest token always stays; among equally likely tokens, the first stays. Without a truncation, the result is
 * `probabilities` itself.
 */
export function truncateDistribution(probabilities: Float32Array, truncation: Truncation): Float32Array {
  const all = probabilities.length;
  if (!truncates(truncation, all)) return probabilities;
  const { topK, topP = 1, minP = 0 } = truncation;
  const limited = topK !== undefined && topK < all;

  // Tokens below this probability add up to less than 1 − topP, so the nucleus is complete without them. Skipping
  // them saves sorting.
  const least = limited ? 0 : (1 - topP) / all;
  let ranked = [...probabilities.keys()].filter((token) => probabilities[token]! >= least);
  if (limited || topP < 1) ranked.sort((a, b) => probabilities[b]! - probabilities[a]! || a - b);
  if (limited) ranked = ranked.slice(0, topK);
  if (topP < 1)
    ranked = nucleus(ranked, probabilities, limited ? topP * massOf(ranked, probabilities) : topP);

  const most = probabilities.reduce((a, b) => Math.max(a, b), 0);
  const kept = new Float32Array(all);
  for (const token of ranked) if (probabilities[token]! >= minP * most) kept[token] = probabilities[token]!;
  return kept;
}

function nucleus(ranked: readonly number[], probabilities: Float32Array, share: number): number[] {
  let sum = 0;
  const end = ranked.findIndex((token) => {
    sum += probabilities[token]!;
    return sum >= share;
  });
  return end < 0 ? [...ranked] : ranked.slice(0, end + 1);
}

function massOf(tokens: readonly number[], probabilities: Float32Array): number {
  return tokens.reduce((sum, token) => sum + probabilities[token]!, 0);
}
