/** SAPO (arXiv 2511.20347): a soft gate instead of a hard clip, steeper for tokens that should become less likely. */
import type { TokenLoss } from './token-loss.ts';

/**
 * −(4/τ)·σ(τ(w − 1))·A. On-policy (w = 1) its gradient is that of the policy gradient, −A; it fades as w leaves 1.
 * @param ratio w = p(token) / p_old(token)
 * @param temperatures τ for A > 0, and for A ≤ 0.
 */
export function sapoLoss(
  ratio: number,
  advantage: number,
  temperatures: readonly [positive: number, negative: number],
): TokenLoss {
  const temperature = advantage > 0 ? temperatures[0] : temperatures[1];
  const gate = 1 / (1 + Math.exp(-temperature * (ratio - 1)));
  return {
    value: (-4 / temperature) * gate * advantage,
    dLogRatio: -4 * gate * (1 - gate) * ratio * advantage,
    dLogprob: 0,
  };
}
