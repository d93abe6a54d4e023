/** Whitening: values at the policy's own tokens, shifted to mean 0 and scaled to variance 1 over the batch. */
import type { TokenValues } from '@toolenv/core/learner';
import { atMask, countTokens, meanOverTokens, squaredDeviations } from '../../rows/averages.ts';

/**
 * (x − mean) / √(unbiased variance + 1e-8) over all tokens with mask 1; 0 at mask 0, whatever `values` holds there. A single
 * token, which has no variance, becomes 0.
 * @param values [B][T]
 * @param mask [B][T]
 */
export function whiten(values: TokenValues, mask: readonly Uint8Array[]): Float64Array[] {
  const mean = meanOverTokens(values, mask);
  const variance = squaredDeviations(values, mask) / Math.max(countTokens(mask) - 1, 1);
  const scale = 1 / Math.sqrt(variance + 1e-8);
  return atMask(mask, (b, t) => (values[b]![t]! - mean) * scale);
}
