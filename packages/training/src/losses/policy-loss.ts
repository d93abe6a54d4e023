/** The policy loss of all algorithms over per-token arrays: a weighted surrogate per token, with penalty and bonus. */
import { ToolEnvError } from '@toolenv/core';
import type { Rows, TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { countTokens } from '../rows/averages.ts';
import { type EpisodePlaces, episodePlaces, meanOf, valuesAt } from '../rows/episode-places.ts';
import type { Loss } from './define-loss.ts';
import { type KlEstimator, klEstimate } from './kl-penalty.ts';
import { losses } from './losses.ts';
import { type MismatchCorrection, mismatchWeights } from './sampler-mismatch.ts';
import { highEntropyMask } from './token-selection.ts';
import { type StepSize, tokenWeights } from './token-weights.ts';

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
  /** A loss, or the name of a built-in loss. Its own options stand beside these. */
  loss: Loss | string;
  /** `sequence`: each token has the geometric mean of its episode's ratios (GSPO, arXiv 2507.18071). Default: that of the loss. */
  ratioLevel?: 'token' | 'sequence';
  /** Weight of the KL penalty. Default 0. */
  beta?: number;
  /** Default `k3`. */
  klEstimator?: KlEstimator;
  /** Largest absolute value of an estimate. Default 10. */
  klClamp?: number;
  /**
   * Multiplies a token's KL by its ratio, which makes the gradient that of the reverse KL (DeepSeek-V3.2, arXiv 2512.02556).
   * Default false.
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
 * @throws ToolEnvError `usage.no_entropy` if the options need an entropy that the learner does not give.
 */
export function policyLoss(inputs: PolicyLossInputs, options: PolicyLossOptions): PolicyLoss {
  const { logprobs, oldLogprobs, sampledLogprobs = oldLogprobs, referenceLogprobs, entropy, mask } = inputs;
  const { beta = 0, klEstimator = 'k3', klClamp = 10, biasCorrectedKl = false } = options;
  const { entropyCoefficient = 0, topEntropyQuantile = 1, offPolicyThreshold } = options;
  const { mismatchCorrection, mismatchCap = 3, mismatchFloor = 0 } = options;
  if (!entropy && (entropyCoefficient > 0 || topEntropyQuantile < 1)) {
    const message =
      'The learner gives no entropy: leave out --entropy-coefficient and --top-entropy-quantile, or train a checkpoint folder.';
    throw new ToolEnvError('usage.no_entropy', message);
  }
  const loss = typeof options.loss === 'string' ? losses[options.loss]! : options.loss;
  const own = ownOptions(loss, options);
  const { ratioLevel = loss.ratioLevel ?? 'token' } = options;
  const episodes = episodePlaces(mask, inputs.episodes);
  const tokensOf = episodes.map(({ t }) => t.length);
  const weights = tokenWeights(loss.average, tokensOf, options);
  const uncertain = topEntropyQuantile < 1 ? highEntropyMask(entropy!, mask, topEntropyQuantile) : mask;
  const bonus = entropyCoefficient / Math.max(countTokens(uncertain), 1);
  const mismatch = mismatchCorrection
    ? mismatchWeights(oldLogprobs, sampledLogprobs, mask, episodes, {
        correction: mismatchCorrection,
        floor: mismatchFloor,
        cap: mismatchCap,
      })
    : undefined;

  const dLogprobs = logprobs.map((row) => new Float32Array(row.length));
  const dEntropy = entropyCoefficient > 0 ? logprobs.map((row) => new Float32Array(row.length)) : undefined;
  let [value, kl, entropySum, logRatioSum] = [0, 0, 0, 0];
  const counts = new Map((loss.shares ?? []).map((name) => [name, 0]));

  for (const [n, places] of episodes.entries()) {
    const weight = weights[n]!;
    const current = valuesAt(logprobs, places);
    const logRatios = differences(current, valuesAt(oldLogprobs, places));
    const advantages = valuesAt(inputs.advantages, places);
    const corrections = mismatch ? valuesAt(mismatch.weights, places) : current.map(() => 1);
    const isUncertain = valuesAt(uncertain, places);
    const reference = beta !== 0 ? valuesAt(referenceLogprobs!, places) : undefined;
    const hasMovedAway =
      offPolicyThreshold !== undefined &&
      meanOf(differences(valuesAt(sampledLogprobs, places), current)) > offPolicyThreshold;
    const ofSequence = ratioLevel === 'sequence' ? meanOf(logRatios) : undefined;
    const tokenLoss = loss.episode({ logprobs: current, logRatios, advantages, mismatch: corrections }, own);
    const slopes = new Float64Array(current.length);
    // ∂/∂ of the sequence's log-ratio, which all of its tokens share.
    let dSequence = 0;
    const slopeByRatio = (i: number, slope: number) => {
      if (ofSequence === undefined) slopes[i]! += slope;
      else dSequence += slope;
    };

    for (const [i, logprob] of current.entries()) {
      const ratio = Math.exp(ofSequence ?? logRatios[i]!);
      const advantage = advantages[i]!;
      logRatioSum += logRatios[i]!;
      // A ratio may be infinite where the advantage is 0.
      if (advantage !== 0) {
        const token = tokenLoss({ ratio, advantage, logprob });
        for (const name of token.counts ?? []) counts.set(name, counts.get(name)! + 1);
        const isLeftOut = isUncertain[i] === 0 || (hasMovedAway && advantage < 0);
        const factor = isLeftOut ? 0 : weight * (loss.correctsMismatch ? 1 : corrections[i]!);
        if (factor !== 0) {
          value += factor * token.value;
          slopes[i]! += factor * (token.dLogprob ?? 0);
          slopeByRatio(i, factor * (token.dLogRatio ?? 0));
        }
      }
      if (reference) {
        const estimate = klEstimate(logprob, reference[i]!, klEstimator, klClamp);
        const correction = biasCorrectedKl ? ratio : 1;
        value += weight * beta * correction * estimate.value;
        slopes[i]! += weight * beta * correction * estimate.slope;
        if (biasCorrectedKl) slopeByRatio(i, weight * beta * correction * estimate.value);
        kl += correction * estimate.value;
      }
    }
    scatter(
      dLogprobs,
      places,
      (i) => slopes[i]! + (ofSequence === undefined ? 0 : dSequence / current.length),
    );

    const entropies = entropy ? valuesAt(entropy, places) : [];
    for (const [i, nats] of entropies.entries()) {
      entropySum += nats;
      if (dEntropy && isUncertain[i] === 1) value -= bonus * nats;
    }
    if (dEntropy) scatter(dEntropy, places, (i) => (isUncertain[i] === 1 ? -bonus : 0));
  }

  const tokens = tokensOf.reduce((sum, count) => sum + count, 0);
  const share = (sum: number) => sum / Math.max(tokens, 1);
  const metrics: Metrics = { ...mismatch?.metrics };
  for (const [name, count] of counts) metrics[name] = share(count);
  if (beta !== 0) metrics.kl = share(kl);
  metrics['actor/ppo_kl'] = share(-logRatioSum);
  if (entropy) metrics.entropy = share(entropySum);
  return { value, dLogprobs, ...(dEntropy && { dEntropy }), metrics };
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
