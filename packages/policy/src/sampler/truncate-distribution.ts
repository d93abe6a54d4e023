/** Which tokens may be sampled: top-k, then the nucleus (arXiv 1904.09751), then min-p (arXiv 2407.01082), as in transformers. */
import { bitsOf, type Cut, cutAt, descendingSum, leastBits } from './ranking-cut.ts';

export interface Truncation {
  /** Keep this many of the likeliest tokens. Default: all. */
  topK?: number;
  /** Keep the fewest likeliest tokens whose probabilities add up to this share. Default 1: all. */
  topP?: number;
  /** Keep tokens whose probability is at least this share of the likeliest token's. Default 0: all. */
  minP?: number;
}

/** Tokens in the order of the vocabulary, with their probabilities. */
export interface Candidates {
  tokens: Int32Array;
  probabilities: Float32Array;
}

/** Whether the truncation can exclude a token of the vocabulary. */
export function truncates({ topK, topP = 1, minP = 0 }: Truncation, vocabulary: number): boolean {
  return (topK !== undefined && topK < vocabulary) || topP < 1 || minP > 0;
}

/**
 * The tokens of the distribution [V] that may be sampled, until the next call. Their probabilities are not scaled up. The
 * likeliest token always stays; among equally likely tokens, the first stay.
 */
export function truncateDistribution(distribution: Float32Array, truncation: Truncation): Candidates {
  const { topK = Infinity, topP = 1, minP = 0 } = truncation;
  const all = distribution.length;
  if (memory.tokens.length < all)
    memory = { tokens: new Int32Array(all), probabilities: new Float32Array(all) };
  let probabilities = distribution;
  let tokens: Int32Array | undefined;
  const keep = (least: number, cut?: Cut) => {
    ({ tokens, probabilities } = kept(probabilities, tokens, least, cut));
  };
  // Tokens below `least` add up to less than 1 − topP, so the nucleus is complete without them.
  let [share, least] = [topP, (1 - topP) / all];
  if (topK < all) {
    keep(0, cutAt(probabilities, topK, 'number'));
    [share, least] = [topP * descendingSum(probabilities), 0];
  }
  if (topP < 1) keep(least, cutAt(probabilities, share, 'sum', least));
  if (minP > 0 || !tokens) keep(minP * highest(probabilities));
  return { tokens: tokens!, probabilities };
}

/** The memory of the candidates. Draws reuse it, because a vocabulary is large. */
let memory: Candidates = { tokens: new Int32Array(0), probabilities: new Float32Array(0) };

/** The candidates that the cut keeps and whose probability is at least `least`, in `memory`. The given ones may be there too. */
function kept(
  probabilities: Float32Array,
  tokens: Int32Array | undefined,
  least: number,
  cut: Cut = { bits: 0, ties: Infinity },
): Candidates {
  const given = bitsOf(probabilities);
  const chosen = memory.tokens;
  const into = bitsOf(memory.probabilities);
  const lowest = Math.max(cut.bits, leastBits(least));
  let ties = lowest > cut.bits ? Infinity : cut.ties;
  let count = 0;
  for (let i = 0; i < given.length; i++) {
    const bits = given[i]!;
    if (bits === lowest && --ties < 0) continue;
    chosen[count] = tokens ? tokens[i]! : i;
    into[count] = bits;
    // 1 if the bits are not below the lowest: an addition is faster than a branch that nothing predicts.
    count += (lowest - 1 - bits) >>> 31;
  }
  return {
    tokens: chosen.subarray(0, count),
    probabilities: memory.probabilities.subarray(0, count),
  };
}

function highest(probabilities: Float32Array): number {
  let most = 0;
  for (let i = 0; i < probabilities.length; i++) if (probabilities[i]! > most) most = probabilities[i]!;
  return most;
}
