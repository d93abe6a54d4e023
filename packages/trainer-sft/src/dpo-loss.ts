/** The losses of direct preference optimisation over sums of log-probabilities, and their gradients (arXiv 2305.18290). */
import type { PreferenceOptions } from './dpo-options.ts';

/** One side of a pair: sums over the tokens to learn, and how many they are. */
export interface Side {
  logprob: number;
  referenceLogprob: number;
  tokens: number;
}

/**
 * `sigmoid`: DPO; `hinge`: SLiC (arXiv 2305.10425); `ipo`: squared, over means per token (arXiv 2310.12036); `robust`: DPO
 * without the bias of wrong labels (arXiv 2403.00409). `labelSmoothing` is ε of `sigmoid` (cDPO) and `robust`.
 */
export type DpoLossOptions = Pick<PreferenceOptions, 'lossType' | 'beta' | 'labelSmoothing'>;

export interface PairLoss {
  value: number;
  /** ∂value/∂(sum of the chosen log-probabilities), and of the rejected. */
  dChosen: number;
  dRejected: number;
}

export function pairLoss(chosen: Side, rejected: Side, options: DpoLossOptions): PairLoss {
  const { lossType, beta, labelSmoothing } = options;
  // IPO compares means, so that long answers count no more than short ones.
  const share = ({ tokens }: Side) => (lossType === 'ipo' ? 1 / tokens : 1);
  const ratio = (side: Side) => share(side) * (side.logprob - side.referenceLogprob);
  const difference = ratio(chosen) - ratio(rejected);
  const [value, slope] = lossOf(difference, lossType, beta, labelSmoothing);
  return { value, dChosen: slope * share(chosen), dRejected: -slope * share(rejected) };
}

/** The loss of a difference of log-ratios, and its derivative. */
function lossOf(
  difference: number,
  lossType: DpoLossOptions['lossType'],
  beta: number,
  labelSmoothing: number,
): [value: number, slope: number] {
  const margin = beta * difference;
  if (lossType === 'hinge') return [Math.max(0, 1 - margin), margin < 1 ? -beta : 0];
  if (lossType === 'ipo') {
    const error = difference - 1 / (2 * beta);
    return [error ** 2, 2 * error];
  }
  const wrong = lossType === 'robust' ? -labelSmoothing : labelSmoothing;
  const scale = lossType === 'robust' ? 1 / (1 - 2 * labelSmoothing) : 1;
  const right = 1 - labelSmoothing;
  const value = right * softplus(-margin) + wrong * softplus(margin);
  const slope = beta * (wrong * sigmoid(margin) - right * sigmoid(-margin));
  return [scale * value, scale * slope];
}

/** log(1 + eˣ). */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

function sigmoid(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}
