/** runOptimizerSteps: the optimizer steps of an update, `epochs` × `miniBatches` of them, each with its loss and its gradient. */
import { createRng } from '@toolenv/core';
import type {
  AdamW,
  BackwardOutputs,
  Learner,
  Rows,
  TokenGradients,
  TokenOutputs,
  TokenValues,
} from '@toolenv/core/learner';
import type { Metrics, Run } from '@toolenv/core/plugins';
import { groupBy, mean } from '../rows/averages.ts';
import type { TrainingRow } from '../rows/training-row.ts';
import type { AlgorithmContext } from '../trainer/algorithm.ts';
import type { RunOptions } from '../trainer/run-options.ts';
import type { SelectionOptions } from '../trainer/selection-options.ts';
import type { UpdateOptions } from '../trainer/update-options.ts';
import type { ScoredTokens } from './compute-logprobs.ts';
import { type LengthOptions, maxEpisodeLength } from './length-rewards.ts';
import type { Loss } from './losses/define-loss.ts';
import type { LossOptions } from './losses/loss-options.ts';
import { type PolicyLossOptions, policyLoss } from './losses/policy-loss.ts';
import { correctionOf, lossOf } from './losses/sampler-mismatch.ts';
import { type ValueLoss, valueLoss } from './losses/value-loss.ts';
import { defaultLearningRate } from './optimizer.ts';
import { policyMetrics, samplerMetrics } from './policy-metrics.ts';

/** Arrays are [B][T]. */
export interface AdvantageBatch extends ScoredTokens {
  rows: readonly TrainingRow[];
  /** 1 where the token has a policy gradient. */
  mask: readonly Uint8Array[];
  advantages: TokenValues;
}

/** The critic's targets and options. Its values before the update are those of `outputs`. */
export interface CriticTargets {
  /** [B][T] */
  returns: TokenValues;
  /** [B][T] 1 where there are returns. */
  mask: readonly Uint8Array[];
  /** The policy does not learn in this step. */
  criticOnly: boolean;
  criticLearningRate: number;
  valueClip: number;
  valueCoefficient: number;
}

export type LearnOptions = Pick<
  UpdateOptions,
  'epochs' | 'miniBatches' | 'weightDecay' | 'maxGradNorm' | 'entropyCoefficient'
> &
  LossOptions &
  Partial<LengthOptions> &
  Pick<SelectionOptions, 'mismatchCorrection'> & { learningRate?: number };

/** The values that {@link runOptimizerSteps} uses for absent options. */
export function learnDefaults(
  options: Pick<LearnOptions, 'learningRate' | 'mismatchCorrection'> & Pick<RunOptions, 'maxStaleness'>,
  run: Pick<Run, 'rollouts' | 'policy' | 'learner'>,
): Pick<LearnOptions, 'learningRate' | 'mismatchCorrection'> {
  const { learningRate = defaultLearningRate(run.learner) } = options;
  return { learningRate, mismatchCorrection: correctionOf(options, run) ?? 'none' };
}

/** The metrics of an update that has no rows to learn from. */
export const emptyUpdate: Readonly<Metrics> = { loss: 0, grad_norm: 0, learned_tokens: 0 };

/**
 * @param learned Numbers of the rows to learn from. The rows of an episode stay in one mini-batch.
 * @param klInLoss β of the KL penalty that is part of the loss.
 * @returns The mean metrics of the optimizer steps.
 */
export async function runOptimizerSteps<Options extends LearnOptions>(
  tokens: AdvantageBatch,
  learned: readonly number[],
  { seed, klInLoss }: { seed: number; klInLoss: number },
  { options, run, parts, learner, optimize, report }: AlgorithmContext<Options>,
  critic?: CriticTargets,
): Promise<Metrics> {
  if (learned.length === 0) return emptyUpdate;
  const { rows, scoredRows, mask, advantages, outputs: before } = tokens;
  const { oldLogprobs, sampledLogprobs, referenceLogprobs } = tokens;
  const settings = { ...lossSettings(options, run, lossOf({ options, parts })), beta: klInLoss };
  const optimizer = optimizerOf(options, learner, critic);
  const episodes = rows.map(({ trajectory }) => trajectory);
  const updates: Metrics[] = [];
  let sampler: Metrics | undefined;
  for (const part of miniBatchesOf(learned, options, seed, episodes)) {
    const pick = <Value>(values: readonly Value[]) => part.map((b) => values[b]!);
    const batch = { rows: pick(scoredRows), temperature: options.temperature };
    // Each step after the first needs the policy's new outputs.
    const isFirst = updates.length === 0;
    const outputs = isFirst ? before && pickOutputs(before, pick) : await learner.forward(batch);
    const policy = {
      logprobs: outputs?.logprobs ?? pick(oldLogprobs),
      oldLogprobs: pick(oldLogprobs),
      entropy: outputs?.entropy,
      mask: pick(mask),
    };
    const inputs = {
      sampledLogprobs: pick(sampledLogprobs),
      referenceLogprobs: referenceLogprobs && pick(referenceLogprobs),
      advantages: pick(advantages),
      episodes: pick(episodes),
    };
    const { value, dLogprobs, dEntropy, metrics } = policyLoss({ ...policy, ...inputs }, settings);
    const values = critic && criticLoss(critic, outputs!.values!, pick(before!.values!), pick);
    const gradients = {
      dLogprobs,
      ...(dEntropy && { dEntropy }),
      ...(values && { dValues: values.dValues }),
    };
    const stepped =
      isZero(gradients) && !critic ? { gradNorm: 0 } : await optimize(batch.rows, gradients, optimizer);
    // The backward pass of the first step sees the weights that sampled.
    const seen: BackwardOutputs | undefined = stepped.outputs;
    if (seen && !outputs) sampler = samplerMetrics(seen.logprobs, policy.oldLogprobs, policy.mask);
    if (seen?.entropy) report('entropies', pick(rows), seen.entropy);
    const ofPolicy = { ...policyMetrics({ ...policy, outputs: seen }), ...metrics };
    updates.push({
      ...(values && { ...values.metrics, 'critic/grad_norm': stepped.criticGradNorm ?? 0 }),
      ...(!critic?.criticOnly && { loss: value, grad_norm: stepped.gradNorm, ...ofPolicy }),
    });
  }
  const learnedTokens = options.epochs * learned.reduce((sum, b) => sum + rows[b]!.tokens.length, 0);
  return { ...meanMetrics(updates), ...sampler, learned_tokens: learnedTokens };
}

/** The options of the policy loss, with what it needs to know of the whole step. */
function lossSettings(
  options: LearnOptions & RunOptions,
  run: Pick<Run, 'env' | 'rollouts' | 'policy'>,
  loss: Loss,
): PolicyLossOptions {
  return {
    ...options,
    loss,
    ...(loss.average === 'constant' && { maxLength: maxEpisodeLength(options, run) }),
    // Groups that are left out do not change the divisor of dr_grpo.
    stepEpisodes: (options.tasksPerStep * options.groupSize) / options.miniBatches,
    mismatchCorrection: correctionOf(options, run),
  };
}

function optimizerOf(options: LearnOptions, learner: Learner, critic: CriticTargets | undefined): AdamW {
  const { learningRate = defaultLearningRate(learner), weightDecay, maxGradNorm } = options;
  const ofPolicy = { learningRate, weightDecay, maxGradNorm };
  if (!critic) return ofPolicy;
  return { ...ofPolicy, criticOnly: critic.criticOnly, critic: { learningRate: critic.criticLearningRate } };
}

type PickRows = <Value>(values: readonly Value[]) => Value[];

function pickOutputs({ logprobs, entropy, values }: TokenOutputs, pick: PickRows): TokenOutputs {
  return {
    logprobs: pick(logprobs),
    ...(entropy && { entropy: pick(entropy) }),
    ...(values && { values: pick(values) }),
  };
}

/** The value loss; its gradient is weighted. */
function criticLoss(
  { returns, mask, valueClip, valueCoefficient }: CriticTargets,
  values: Rows,
  oldValues: Rows,
  pick: PickRows,
): ValueLoss {
  const loss = valueLoss({ values, oldValues, returns: pick(returns), mask: pick(mask) }, { valueClip });
  return { ...loss, dValues: loss.dValues.map((row) => row.map((slope) => valueCoefficient * slope)) };
}

/** Where every gradient is 0, neither momentum nor decay may move the weights. */
function isZero({ dLogprobs, dEntropy = [] }: TokenGradients): boolean {
  return [...dLogprobs, ...dEntropy].every((row) => row.every((gradient) => gradient === 0));
}

/**
 * The rows of each optimizer step: `miniBatches` of every epoch, shuffled if there is more than one. The rows of an episode stay
 * together and in order. No batch is empty.
 * @param rows Numbers of rows.
 * @param episodes Names the episode of each row by its number. Default: each row is an episode.
 */
export function miniBatchesOf(
  rows: readonly number[],
  { epochs, miniBatches }: { epochs: number; miniBatches: number },
  stepSeed: number,
  episodes?: readonly unknown[],
): number[][] {
  const whole = [...groupBy(rows, (b) => (episodes ? episodes[b] : b)).values()];
  const batches: number[][] = [];
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = miniBatches === 1 ? whole : createRng(stepSeed, 'mini-batches', epoch).shuffle([...whole]);
    for (let part = 0; part < miniBatches; part++) {
      const [start, end] = [part, part + 1].map((edge) => Math.floor((edge * order.length) / miniBatches));
      batches.push(order.slice(start, end).flat());
    }
  }
  return batches.filter(({ length }) => length > 0);
}

/** Means, except that `…/min` is the least and `…/max` the greatest value. */
export function meanMetrics(updates: readonly Metrics[]): Metrics {
  const names = new Set(updates.flatMap((metrics) => Object.keys(metrics)));
  const metrics: Metrics = {};
  for (const name of names) {
    const values = updates.map((update) => update[name]).filter((value) => value !== undefined);
    if (name.endsWith('/min')) metrics[name] = Math.min(...values);
    else if (name.endsWith('/max')) metrics[name] = Math.max(...values);
    else metrics[name] = mean(values);
  }
  return metrics;
}
