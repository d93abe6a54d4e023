/** The policy loss of all algorithms over per-token arrays: a weighted surrogate per token, with penalty and bonus. */
import type { Rows, TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { countTokens, meanOverTokens } from '../averages.ts';
import { cispoLoss } from './cispo-loss.ts';
import { type Clipping, clippedLoss } from './clipped-loss.ts';
import { type KlEstimator, klEstimate } from './kl-penalty.ts';
import { type Averaging, rowWeights } from './row-weights.ts';
import { type MismatchCorrection, mismatchWeights } from './sampler-mismatch.ts';
import { sapoLoss } from './sapo-loss.ts';
import type { TokenLoss } from './token-loss.ts';
import { highEntropyMask, nearPolicy } from './token-selection.ts';

/** Arrays are [B][T]. Values at mask 0 are ignored. */
export interface PolicyLossInputs {
  /** Log-probabilities under the policy being trained. */
  logprobs: Rows;
  /** Under the policy before the step; the denominator of the ratio. */
  oldLogprobs: Rows;
  /** From the sampler. Default: `oldLogprobs`. */
  sampledLogprobs?: Rows;
  /** Under the reference policy. Required if beta > 0. */
  referenceLogprobs?: Rows;
  /** Of the distribution each token was drawn from, in nats. Required for the entropy bonus and the entropy mask. */
  entropy?: Rows;
  /** 1 where the policy generated the token. */
  mask: Uint8Array[];
  advantages: TokenValues;
}

export interface PolicyLossOptions extends Averaging, Clipping {
  /** `sequence`: each token has the geometric mean of its row's ratios (GSPO, arXiv 2507.18071). Default `token`. */
  ratioLevel?: 'token' | 'sequence';
  /** CISPO's largest weight. Default 5. */
  ratioCap?: number;
  /** SAPO's τ for A > 0, and for A ≤ 0. Default [1, 1.05]. */
  sapoTemperatures?: readonly [number, number];
  /** Weight of the KL penalty. Default 0. */
  beta?: number;
  /** Default `k3`. */
  klEstimator?: KlEstimator;
  /** Largest absolute value of an estimate. Default 10. */
  klClamp?: number;
  /** Weight of the mean entropy, a bonus that lowers the loss, over the tokens that have a policy gradient. Default 0. */
  entropyCoefficient?: number;
  /** Share of the tokens that have a policy gradient and a bonus: those with the highest entropy. Default 1. */
  topEntropyQuantile?: number;
  /** Default: none. */
  mismatchCorrection?: MismatchCorrection;
  /** Default 3. */
  mismatchCap?: number;
  /** Leaves out tokens with A < 0 in rows whose log-probability fell by more than this per token. Default: none. */
  offPolicyThreshold?: number;
}

export interface PolicyLoss {
  value: number;
  /** [B][T] ∂value/∂logprobs. */
  dLogprobs: Rows;
  /** [B][T] ∂value/∂entropy; absent without an entropy bonus. */
  dEntropy?: Rows;
  metrics: Metrics;
}

/**
 * Σ weight·(surrogate·selection·correction + β·KL) over the tokens with mask 1, minus c·(mean entropy). Weights come from the
 * loss's average (`rowWeights`). The gradient treats selections and corrections as constants.
 */
export function policyLoss(inputs: PolicyLossInputs, options: PolicyLossOptions): PolicyLoss {
  const { logprobs, oldLogprobs, referenceLogprobs, entropy, mask, advantages } = inputs;
  const { beta = 0, klEstimator = 'k3', klClamp = 10, entropyCoefficient = 0 } = options;
  const weights = rowWeights(mask, options);
  const { clip, delta = Number.POSITIVE_INFINITY, ratioCap = 5, topEntropyQuantile = 1 } = options;
  const uncertain = topEntropyQuantile < 1 ? highEntropyMask(entropy!, mask, topEntropyQuantile) : mask;
  const bonus = entropyCoefficient / Math.max(countTokens(uncertain), 1);
  const { factor, metrics } = gradientFactors(inputs, options);
  const dLogprobs = logprobs.map((row) => new Float32Array(row.length));
  const dEntropy = entropyCoefficient > 0 ? logprobs.map((row) => new Float32Array(row.length)) : undefined;
  const [low, high] = options.loss === 'cispo' ? [0, ratioCap] : [1 - clip[0], 1 + clip[1]];
  let [value, kl, entropySum, logRatioSum, tokens] = [0, 0, 0, 0, 0];
  let [clippedLow, clippedHigh, capped] = [0, 0, 0];

  for (const [b, row] of logprobs.entries()) {
    const weight = weights[b]!;
    const ofRow =
      options.ratioLevel === 'sequence' ? meanLogRatio(row, oldLogprobs[b]!, mask[b]!) : undefined;
    let dRow = 0;
    for (let t = 0; t < row.length; t++) {
      if (mask[b]![t] !== 1) continue;
      const logRatio = row[t]! - oldLogprobs[b]![t]!;
      const ratio = Math.exp(ofRow ? ofRow.mean : logRatio);
      const isUncertain = uncertain[b]![t] === 1;
      const advantage = isUncertain ? weight * factor(b, t) * advantages[b]![t]! : 0;
      tokens += 1;
      logRatioSum += logRatio;
      if (ratio < low && advantages[b]![t]! < 0) clippedLow += 1;
      if (ratio > high && advantages[b]![t]! > 0) clippedHigh += 1;
      if (ratio > delta && advantages[b]![t]! < 0) capped += 1;
      // A ratio may be infinite where the advantage is 0.
      if (advantage !== 0) {
        const token = surrogate(ratio, advantage, row[t]!, options);
        value += token.value;
        dLogprobs[b]![t] = token.dLogprob + (ofRow ? 0 : token.dLogRatio);
        dRow += token.dLogRatio;
      }

      if (beta !== 0) {
        const estimate = klEstimate(row[t]!, referenceLogprobs![b]![t]!, klEstimator, klClamp);
        value += weight * beta * estimate.value;
        dLogprobs[b]![t]! += weight * beta * estimate.slope;
        kl += estimate.value;
      }
      if (entropy) entropySum += entropy[b]![t]!;
      if (dEntropy && isUncertain) {
        value -= bonus * entropy![b]![t]!;
        dEntropy[b]![t] = -bonus;
      }
    }
    if (ofRow) addAtMask(dLogprobs[b]!, mask[b]!, dRow / ofRow.count);
  }

  const share = (count: number) => count / Math.max(tokens, 1);
  if (options.loss === 'cispo') metrics.cispo_clip_ratio = share(clippedHigh);
  else if (options.loss !== 'sapo') {
    metrics['clip_ratio/low_mean'] = share(clippedLow);
    metrics['clip_ratio/high_mean'] = share(clippedHigh);
    metrics['clip_ratio/region_mean'] = share(clippedLow + clippedHigh);
    metrics['actor/pg_clipfrac_lower'] = share(capped);
  }
  if (beta !== 0) metrics.kl = share(kl);
  metrics['actor/ppo_kl'] = share(-logRatioSum);
  if (entropy) metrics.entropy = share(entropySum);
  return { value, dLogprobs, ...(dEntropy && { dEntropy }), metrics };
}

function surrogate(ratio: number, advantage: number, logprob: number, options: PolicyLossOptions): TokenLoss {
  const { loss, ratioCap = 5, sapoTemperatures = [1, 1.05] } = options;
  if (loss === 'cispo') return cispoLoss(ratio, advantage, logprob, ratioCap);
  if (loss === 'sapo') return sapoLoss(ratio, advantage, sapoTemperatures);
  return clippedLoss(ratio, advantage, options);
}

/** Factors of each token's policy gradient: the mismatch correction, or 0 where the policy has moved away. */
function gradientFactors(
  inputs: PolicyLossInputs,
  { mismatchCorrection, mismatchCap = 3, offPolicyThreshold }: PolicyLossOptions,
): { factor: (b: number, t: number) => number; metrics: Metrics } {
  const { logprobs, oldLogprobs, sampledLogprobs = oldLogprobs, mask, advantages } = inputs;
  const near =
    offPolicyThreshold === undefined
      ? undefined
      : nearPolicy(logprobs, sampledLogprobs, mask, offPolicyThreshold);
  const mismatch = mismatchCorrection
    ? mismatchWeights(oldLogprobs, sampledLogprobs, mask, mismatchCorrection, mismatchCap)
    : undefined;
  const factor = (b: number, t: number) => {
    if (near && !near[b]! && advantages[b]![t]! < 0) return 0;
    return mismatch ? mismatch.weights[b]![t]! : 1;
  };
  return { factor, metrics: { ...mismatch?.metrics } };
}

function meanLogRatio(
  logprobs: Float32Array,
  oldLogprobs: Float32Array,
  mask: Uint8Array,
): { mean: number; count: number } {
  const logRatios = Float64Array.from(logprobs, (logprob, t) => logprob - oldLogprobs[t]!);
  return { mean: meanOverTokens([logRatios], [mask]), count: countTokens([mask]) };
}

function addAtMask(values: Float32Array, mask: Uint8Array, amount: number): void {
  for (let t = 0; t < mask.length; t++) if (mask[t] === 1) values[t]! += amount;
}
