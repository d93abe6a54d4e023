/** Generalised advantage estimation (arXiv 1506.02438) over the policy's own tokens, skipping the environment's. */
import type { TokenValues } from '@toolenv/core/learner';

export interface GeneralizedAdvantages {
  /** [B][T] at mask 1, not whitened; else 0. */
  advantages: Float64Array[];
  /** [B][T] advantages + values at mask 1, which a critic learns; else 0. */
  returns: Float64Array[];
}

/**
 * δ_t = r_t + γ·V_{t+1} − V_t and A_t = δ_t + γλ·A_{t+1}, where t + 1 is the next token of the episode with mask 1, also in a
 * later turn or row. The environment's tokens between them do not discount, and have no values or rewards. Beyond the
 * episode's last token V and A are 0.
 * @param rewards [B][T]
 * @param values [B][T] V_t is of the state before token t.
 * @param mask [B][T]
 * @param episodes [B] names each row's episode; its rows follow each other in time.
 */
export function generalizedAdvantages(
  rewards: TokenValues,
  values: TokenValues,
  mask: readonly Uint8Array[],
  episodes: readonly unknown[],
  { gamma, lambda }: { gamma: number; lambda: number },
): GeneralizedAdvantages {
  const advantages = mask.map((row) => new Float64Array(row.length));
  const returns = mask.map((row) => new Float64Array(row.length));
  const later = new Map<unknown, { value: number; advantage: number }>();
  for (const [b, row] of [...mask.entries()].reverse()) {
    let next = later.get(episodes[b]) ?? { value: 0, advantage: 0 };
    for (let t = row.length - 1; t >= 0; t--) {
      if (row[t] !== 1) continue;
      const value = values[b]![t]!;
      const delta = rewards[b]![t]! + gamma * next.value - value;
      next = { value, advantage: delta + gamma * lambda * next.advantage };
      advantages[b]![t] = next.advantage;
      returns[b]![t] = next.advantage + value;
    }
    later.set(episodes[b], next);
  }
  return { advantages, returns };
}
