/** PPO's value loss over per-token arrays: values are clipped to a range around their old values. */
import type { Rows, TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { countTokens } from '../../rows/averages.ts';

/** Arrays are [B][T]. Values at mask 0 are ignored. */
export interface ValueLossInputs {
  /** From the critic being trained. */
  values: Rows;
  /** From the critic before the step. */
  oldValues: Rows;
  returns: TokenValues;
  /** 1 where the token counts. */
  mask: readonly Uint8Array[];
}

export interface ValueLoss {
  value: number;
  /** [B][T] ∂value/∂values. */
  dValues: Rows;
  metrics: Metrics;
}

/**
 * The mean over all tokens with mask 1 of ½·max((V − R)², (clip(V) − R)²), where clip(V) is within `valueClip` of the old
 * value (arXiv 1707.06347's code).
 */
export function valueLoss(
  { values, oldValues, returns, mask }: ValueLossInputs,
  { valueClip }: { valueClip: number },
): ValueLoss {
  const weight = 1 / Math.max(countTokens(mask), 1);
  const dValues = values.map((row) => new Float32Array(row.length));
  let [squares, valueSum, clipped] = [0, 0, 0];
  for (const [b, row] of mask.entries()) {
    for (let t = 0; t < row.length; t++) {
      if (row[t] !== 1) continue;
      const [value, old] = [values[b]![t]!, oldValues[b]![t]!];
      const error = value - returns[b]![t]!;
      const bounded = Math.min(Math.max(value, old - valueClip), old + valueClip);
      const boundedError = bounded - returns[b]![t]!;
      valueSum += value;
      squares += Math.max(error ** 2, boundedError ** 2);
      if (boundedError ** 2 > error ** 2) clipped += 1;
      else dValues[b]![t] = weight * error;
    }
  }
  const value = (weight * squares) / 2;
  return {
    value,
    dValues,
    metrics: {
      'critic/vf_loss': value,
      'critic/vf_clipfrac': weight * clipped,
      'critic/vpred_mean': weight * valueSum,
    },
  };
}
