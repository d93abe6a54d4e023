/** Whitening: values at the policy's own tokens, shifted to mean 0 and scaled to variance 1 over the batch. */
import type { TokenValues } from '@toolenv/core/learner';

/**
 * (x − mean) / √(unbiased variance + 1e-8) over all tokens with mask 1; 0 at mask 0, whatever `values` holds there. A single
 * token, which has no variance, becomes 0.
 * @param values [B][T]
 * @param mask [B][T]
 */
export function whiten(values: TokenValues, mask: readonly Uint8Array[]): Float64Array[] {
  let count = 0;
  let sum = 0;
  for (const [b, row] of mask.entries()) {
    for (let t = 0; t < row.length; t++) {
      if (row[t] !== 1) continue;
      count += 1;
      sum += values[b]![t]!;
    }
  }
  const mean = sum / Math.max(count, 1);
  let squares = 0;
  for (const [b, row] of mask.entries()) {
    for (let t = 0; t < row.length; t++) if (row[t] === 1) squares += (values[b]![t]! - mean) ** 2;
  }
  const scale = 1 / Math.sqrt(squares / Math.max(count - 1, 1) + 1e-8);
  return mask.map((row, b) =>
    Float64Array.from(row, (bit, t) => (bit === 1 ? (values[b]![t]! - mean) * scale : 0)),
  );
}
