/** CISPO (arXiv 2506.13585): clips the weight of a token instead of its update, so that every token keeps a gradient. */
import type { TokenLoss } from './token-loss.ts';

/**
 * −stopgrad(min(w, cap))·A·log p(token): the gradient is that of REINFORCE, weighted.
 * @param ratio w = p(token) / p_old(token)
 * @param cap The largest weight, absolute (ε_high in TRL); there is no lower bound.
 */
export function cispoLoss(ratio: number, advantage: number, logprob: number, cap: number): TokenLoss {
  const weight = Math.min(ratio, cap);
  return { value: -weight * advantage * logprob, dLogRatio: 0, dLogprob: -weight * advantage };
}
