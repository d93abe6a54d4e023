/** The policy loss of all algorithms over per-token arrays: a weighted surrogate per token, with penalty and bonus. */
import { ToolEnvError } from '@toolenv/core';
import type { Rows, TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { countTokens, type EpisodePlaces, episodePlaces, mean, valuesAt } from '../../rows/averages.ts';
import { type Loss, readTokenLoss } from './define-loss.ts';
import { type KlEstimator, reverseKlSlope, straightBeyond } from './kl-penalty.ts';
import { losses } from './losses.ts';
import { assertCorrection, type MismatchCorrection, mismatchWeights } from './sampler-mismatch.ts';
import { highEntropyMask, type StepSize, tokenWeights } from './token-weights.ts';

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
  /** [B] names the episode of each row: averages, sequences and thresholds are those of episodes. Default: each row is an episode. */
  episodes?: readonly unknown[];
}

export interface PolicyLossOptions extends StepSize {
  /** A loss, or the name of a built-in loss. Its options are given next to these. */
  loss: Loss | string;
  /** `sequence`: each token has the geometric mean of its episode's ratios (GSPO, arXiv 2507.18071). Default: that of the loss. */
  ratioLevel?: 'token' | 'sequence';
  /** Weight of the KL penalty. Default 0. */
  beta?: number;
  /** Default `k3`. */
  klEstimator?: KlEstimator;
  /** Beyond ±klClamp, an estimate grows in a straight line. Default 10. */
  klClamp?: number;
  /**
   * Multiplies a token's KL by its ratio, which makes the gradient that of the reverse KL (DeepSeek-V3.2, arXiv 2512.02556), even where the
   * ratio is 1. Default true.
   */
  biasCorrectedKl?: boolean;
  /** Weight of the mean entropy, a bonus that lowers the loss, over the tokens that have a policy gradient. Default 0. */
  entropyCoefficient?: number;
  /** Share of the tokens that have a policy gradient and a bonus: those with the highest entropy. Default 1. */
  topEntropyQuantile?: number;
  /** Default: none. */
  mismatchCorrection?: MismatchCorrection;
  /** Default 3. */
  mismatchCap?: number;
  /** Default 0. */
  mismatchFloor?: number;
  /** Leaves out tokens with A < 0 in episodes whose log-probability fell by more than this per token. Default: none. */
  offPolicyThreshold?: number;
  [optionOfTheLoss: string]: unknown;
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
 * Σ weight·(loss·selection·correction + β·KL) over the tokens with mask 1, minus c·(mean entropy). Weights come from the
 * loss's average (`tokenWeights`). The gradient treats selections and corrections as constants.
 *
 * The loss of an episode does not depend on how its tokens are divided into rows.
 * @throws ToolEnvError `usage.no_entropy` if the options need an entropy that the learner does not give; `usage.bad_option` for a
 *   correction that the loss cannot use.
 */
export function policyLoss(inputs: PolicyLossInputs, options: PolicyLossOptions): PolicyLoss {
  const { logprobs, oldLogprobs, sampledLogprobs = oldLogprobs, entropy, mask } = inputs;
  const { entropyCoefficient = 0, topEntropyQuantile = 1 } = options;
  const { mismatchCorrection: correction, mismatchCap: cap = 3, mismatchFloor: floor = 0 } = options;
  if (!entropy && (entropyCoefficient > 0 || topEntropyQuantile < 1)) {
    const message =
      'The learner gives no entropy: leave out --entropy-coefficient and --top-entropy-quantile, or train a checkpoint folder.';
    throw new ToolEnvError('usage.no_entropy', message);
  }
  const loss = typeof options.loss === 'string' ? losses[options.loss]! : options.loss;
  assertCorrection('policyLoss', loss, correction);
  const episodes = episodePlaces(mask, inputs.episodes);
  const tokensOf = episodes.map(({ t }) => t.length);
  const weights = tokenWeights(loss.average, tokensOf, options);
  const uncertain = topEntropyQuantile < 1 ? highEntropyMask(entropy!, mask, topEntropyQuantile) : mask;
  const bonus = entropyCoefficient / Math.max(countTokens(uncertain), 1);
  const mismatch =
    correction && mismatchWeights(oldLogprobs, sampledLogprobs, mask, episodes, { correction, floor, cap });

  const zeros = () => logprobs.map((row) => new Float32Array(row.length));
  const dLogprobs = zeros();
  const dEntropy = entropyCoefficient > 0 ? zeros() : undefined;
  const sums = { value: 0, kl: 0, entropy: 0, logRatio: 0 };
  const counts = new Map((loss.shares ?? []).map((name) => [name, 0]));
  const klOf = straightBeyond(options.klClamp ?? 10, options.klEstimator ?? 'k3');
  const surrogate = { inputs, options, loss, uncertain, corrections: mismatch?.weights, klOf, sums, counts };
  for (const [n, places] of episodes.entries()) {
    const slopes = addEpisode(surrogate, places, weights[n]!);
    scatter(dLogprobs, places, (i) => slopes[i]!);
    if (!entropy) continue;
    const isUncertain = valuesAt(uncertain, places);
    for (const [i, nats] of valuesAt(entropy, places).entries()) {
      sums.entropy += nats;
      if (dEntropy && isUncertain[i] === 1) sums.value -= bonus * nats;
    }
    if (dEntropy) scatter(dEntropy, places, (i) => (isUncertain[i] === 1 ? -bonus : 0));
  }

  const tokens = tokensOf.reduce((sum, count) => sum + count, 0);
  const share = (sum: number) => sum / Math.max(tokens, 1);
  const metrics: Metrics = { ...mismatch?.metrics };
  for (const [name, count] of counts) metrics[name] = share(count);
  if ((options.beta ?? 0) !== 0) metrics.kl = share(sums.kl);
  metrics['actor/ppo_kl'] = share(-sums.logRatio);
  if (entropy) metrics.entropy = share(sums.entropy);
  return { value: sums.value, dLogprobs, ...(dEntropy && { dEntropy }), metrics };
}

/** What the surrogate and the penalty of each episode are computed from, and added to. */
interface Surrogate {
  inputs: PolicyLossInputs;
  options: PolicyLossOptions;
  loss: Loss;
  /** [B][T] 1 where a token has a policy gradient. */
  uncertain: readonly Uint8Array[];
  /** [B][T] that correct for the sampler. */
  corrections: Float64Array[] | undefined;
  klOf: ReturnType<typeof straightBeyond>;
  sums: { value: number; kl: number; logRatio: number };
  /** What the loss counts, by metric. */
  counts: Map<string, number>;
}

/** Adds the surrogate and the penalty of an episode. Returns ∂value/∂logprobs of its tokens. */
function addEpisode(
  { inputs, options, loss, uncertain, corrections, klOf, sums, counts }: Surrogate,
  places: EpisodePlaces,
  weight: number,
): Float64Array {
  const { oldLogprobs, sampledLogprobs = oldLogprobs } = inputs;
  const { beta = 0, biasCorrectedKl = true, klEstimator = 'k3' } = options;
  const { ratioLevel = loss.ratioLevel ?? 'token', offPolicyThreshold = Number.POSITIVE_INFINITY } = options;
  const logprobs = valuesAt(inputs.logprobs, places);
  const logRatios = differences(logprobs, valuesAt(oldLogprobs, places));
  const advantages = valuesAt(inputs.advantages, places);
  const mismatch = corrections ? valuesAt(corrections, places) : logprobs.map(() => 1);
  const isUncertain = valuesAt(uncertain, places);
  const reference = beta !== 0 ? valuesAt(inputs.referenceLogprobs!, places) : undefined;
  const fall = mean(differences(valuesAt(sampledLogprobs, places), logprobs));
  const ofSequence = ratioLevel === 'sequence' ? mean(logRatios) : undefined;
  const tokenLoss = loss.episode({ logprobs, logRatios, advantages, mismatch }, ownOptions(loss, options));
  const slopes = new Float64Array(logprobs.length);
  // ∂/∂ of the sequence's log-ratio, which all of its tokens share.
  let dSequence = 0;
  const slopeByRatio = (i: number, slope: number) => {
    if (ofSequence === undefined) slopes[i]! += slope;
    else dSequence += slope;
  };

  for (const [i, logprob] of logprobs.entries()) {
    const ratio = Math.exp(ofSequence ?? logRatios[i]!);
    const advantage = advantages[i]!;
    sums.logRatio += logRatios[i]!;
    // A ratio may be infinite where the advantage is 0.
    if (advantage !== 0) {
      const token = readTokenLoss(loss.name, tokenLoss({ ratio, advantage, logprob }));
      for (const name of token.counts ?? []) counts.set(name, counts.get(name)! + 1);
      const isLeftOut = isUncertain[i] === 0 || (fall > offPolicyThreshold && advantage < 0);
      const factor = isLeftOut ? 0 : weight * (loss.correctsMismatch ? 1 : mismatch[i]!);
      if (factor !== 0) {
        sums.value += factor * token.value;
        slopes[i]! += factor * (token.dLogprob ?? 0);
        slopeByRatio(i, factor * (token.dLogRatio ?? 0));
      }
    }
    if (!reference) continue;
    const estimate = klOf(logprob, reference[i]!);
    const correction = biasCorrectedKl ? ratio : 1;
    const share = weight * beta * correction;
    const isCorrectedAlone = biasCorrectedKl && ofSequence === undefined;
    const slope = isCorrectedAlone ? reverseKlSlope(logprob, reference[i]!, klEstimator) : estimate.slope;
    sums.value += share * estimate.value;
    slopes[i]! += share * slope;
    if (biasCorrectedKl && !isCorrectedAlone) dSequence += share * estimate.value;
    sums.kl += correction * estimate.value;
  }
  return slopes.map((slope) => slope + dSequence / logprobs.length);
}

/** The options of the loss itself, with its defaults. */
function ownOptions(loss: Loss, options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = Object.entries(loss.options.properties as Record<string, { default?: unknown }>);
  return Object.fromEntries(properties.map(([name, { default: usual }]) => [name, options[name] ?? usual]));
}

function differences(left: Float64Array, right: Float64Array): Float64Array {
  return left.map((value, i) => value - right[i]!);
}

function scatter(rows: Rows, { b, t }: EpisodePlaces, value: (i: number) => number): void {
  for (let i = 0; i < t.length; i++) rows[b[i]!]![t[i]!] = value(i);
}
