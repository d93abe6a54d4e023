/** learnPairs: one optimizer step of preference optimisation; scorePairs: the loss without a step. */
import type { Learner, Rows, TokenRow } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { type AlgorithmContext, countTokens, sumOverTokens } from '@toolenv/training';
import { type PairLoss, pairLoss, type Side } from './dpo-loss.ts';
import type { PreferenceOptions } from './dpo-options.ts';

/** The rows of the better and the worse of two episodes or answers. */
export interface Pair {
  chosen: readonly TokenRow[];
  rejected: readonly TokenRow[];
}

/** What the loss of pairs is, and its gradient. */
export interface PairsLoss {
  value: number;
  /** [B][T], in the order of {@link rowsOf}. */
  dLogprobs: Rows;
  metrics: Metrics;
}

/** One step on pairs; there is at least one. */
export async function learnPairs(
  { options, learner, optimize }: AlgorithmContext<PreferenceOptions>,
  reference: Pick<Learner, 'forward'>,
  pairs: readonly Pair[],
): Promise<Metrics> {
  const rows = rowsOf(pairs);
  const { temperature, learningRate, weightDecay, maxGradNorm } = options;
  const { logprobs } = await learner.forward({ rows, temperature });
  const before = (await reference.forward({ rows, temperature })).logprobs;
  const { value, dLogprobs, metrics } = pairsLoss(pairs, logprobs, before, options);
  const { gradNorm } = await optimize(rows, { dLogprobs }, { learningRate, weightDecay, maxGradNorm });
  const learned = rows.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return { loss: value, grad_norm: gradNorm, learned_tokens: learned, ...metrics };
}

/** All rows of pairs: of each, those of the chosen side, then those of the rejected. */
export function rowsOf(pairs: readonly Pair[]): TokenRow[] {
  return pairs.flatMap(({ chosen, rejected }) => [...chosen, ...rejected]);
}

/**
 * The mean loss of the pairs, plus `rpoAlpha` times the mean cross-entropy of all chosen tokens.
 * @param logprobs [B][T] in the order of {@link rowsOf}, and so is `referenceLogprobs`.
 */
export function pairsLoss(
  pairs: readonly Pair[],
  logprobs: Rows,
  referenceLogprobs: Rows,
  options: Pick<PreferenceOptions, 'lossType' | 'beta' | 'labelSmoothing' | 'rpoAlpha'>,
): PairsLoss {
  const { beta, rpoAlpha } = options;
  const chosenTokens = countTokens(pairs.flatMap(({ chosen }) => chosen.map(({ mask }) => mask)));
  const dLogprobs: Rows = [];
  const sums = { loss: 0, chosen: 0, rejected: 0, right: 0, chosenLogprob: 0, rejectedLogprob: 0 };
  let start = 0;
  const sideOf = (rows: readonly TokenRow[]): Side => {
    const mask = rows.map((row) => row.mask);
    const end = start + rows.length;
    const side = {
      logprob: sumOverTokens(logprobs.slice(start, end), mask),
      referenceLogprob: sumOverTokens(referenceLogprobs.slice(start, end), mask),
      tokens: countTokens(mask),
    };
    start = end;
    return side;
  };
  for (const pair of pairs) {
    const [chosen, rejected] = [sideOf(pair.chosen), sideOf(pair.rejected)];
    const loss: PairLoss = pairLoss(chosen, rejected, options);
    const [good, bad] = [chosen, rejected].map((side) => beta * (side.logprob - side.referenceLogprob));
    sums.loss += loss.value / pairs.length - (rpoAlpha * chosen.logprob) / chosenTokens;
    sums.chosen += good!;
    sums.rejected += bad!;
    sums.right += Number(good! > bad!);
    sums.chosenLogprob += chosen.logprob;
    sums.rejectedLogprob += rejected.logprob;
    const slopes = [loss.dChosen / pairs.length - rpoAlpha / chosenTokens, loss.dRejected / pairs.length];
    for (const [side, rows] of [pair.chosen, pair.rejected].entries())
      for (const { mask } of rows) dLogprobs.push(Float32Array.from(mask, (bit) => bit * slopes[side]!));
  }
  const mean = (sum: number) => sum / pairs.length;
  const metrics = {
    'rewards/chosen': mean(sums.chosen),
    'rewards/rejected': mean(sums.rejected),
    'rewards/margins': mean(sums.chosen - sums.rejected),
    'rewards/accuracies': mean(sums.right),
    'logps/chosen': mean(sums.chosenLogprob),
    'logps/rejected': mean(sums.rejectedLogprob),
  };
  return { value: sums.loss, dLogprobs, metrics };
}

/** Pairs of a forward pass. */
const pairsAtOnce = 32;

/** The loss and the rewards of held-out pairs. */
export async function scorePairs(
  learner: Pick<Learner, 'forward'>,
  reference: Pick<Learner, 'forward'>,
  pairs: readonly Pair[],
  options: PreferenceOptions,
  signal?: AbortSignal,
): Promise<Metrics> {
  const totals: Metrics = {};
  for (let start = 0; start < pairs.length; start += pairsAtOnce) {
    signal?.throwIfAborted();
    const part = pairs.slice(start, start + pairsAtOnce);
    const rows = rowsOf(part);
    const { logprobs } = await learner.forward({ rows });
    const before = (await reference.forward({ rows })).logprobs;
    const { value, metrics } = pairsLoss(part, logprobs, before, options);
    for (const [name, mean] of Object.entries({ loss: value, ...metrics }))
      totals[name] = (totals[name] ?? 0) + (mean * part.length) / pairs.length;
  }
  return totals;
}
