/** Which of the policy's own tokens the policy gradient leaves out. */
import type { TokenValues } from '@toolenv/core/learner';

/**
 * The share of tokens about which the policy was least certain, where it makes its choices (arXiv 2506.01939).
 * @returns [B][T] 1 where the entropy is in the top `quantile` of all tokens with mask 1, else 0.
 */
export function highEntropyMask(
  entropy: TokenValues,
  mask: readonly Uint8Array[],
  quantile: number,
): Uint8Array[] {
  const all = mask.flatMap((row, b) => Array.from(entropy[b]!).filter((_, t) => row[t] === 1));
  const threshold = quantileOf(all, 1 - quantile);
  return mask.map((row, b) => row.map((bit, t) => (bit === 1 && entropy[b]![t]! >= threshold ? 1 : 0)));
}

/** Interpolates linearly, as torch.quantile does. */
function quantileOf(values: readonly number[], quantile: number): number {
  const sorted = Float64Array.from(values).sort();
  const at = quantile * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? 0;
  return low + (at - Math.floor(at)) * ((sorted[Math.ceil(at)] ?? low) - low);
}
