/** GRPO and its critic-free family: compare the episodes of a group, and follow the clipped policy gradient. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import type { Learner, TokenGradients, TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import {
  type AdvantageEstimator,
  type AlgorithmContext,
  advantageInputs,
  type ConfigurableTrainer,
  carriedAdvantages,
  completionMask,
  correctionOf,
  defaultLearningRate,
  defineTrainer,
  estimateAdvantages,
  advantages as estimators,
  klToStart,
  type LengthOptions,
  type Loss,
  lengthOptions,
  lossOptions,
  mean,
  meanMetrics,
  meanOverTokens,
  miniBatchesOf,
  normalisedRewards,
  penalisedRewards,
  policyLoss,
  policyMetrics,
  type RolloutBatch,
  type RunOptions,
  sampledLogprobsOf,
  samplerMetrics,
  selectionOptions,
  shapedByLength,
  updateOptions,
  withoutZeroVariance,
} from '@toolenv/training';
import { resolveAlgorithm, withAlgorithmDefaults } from './algorithms.ts';
import { advantageOptions, type GrpoOptions, grpoOptions } from './grpo-options.ts';

export const grpo: ConfigurableTrainer<GrpoOptions & RunOptions> = defineTrainer<
  JsonSchema,
  GrpoOptions & LengthOptions
>({
  name: 'grpo',
  description: 'Group relative policy optimisation (arXiv 2402.03300) and its critic-free family',
  options: withAlgorithmDefaults({
    properties: {
      ...grpoOptions.properties,
      ...advantageOptions,
      ...lossOptions,
      ...lengthOptions,
      ...selectionOptions,
      ...updateOptions,
    },
  }),
  // Episodes are compared within their group.
  minimums: { groupSize: 2 },
  async create(context) {
    const options = resolveAlgorithm(context.options);
    refuseCritic(context.parts.advantage as AdvantageEstimator | undefined);
    const reference = options.beta > 0 || options.klEvery > 0 ? await context.learner.reference() : undefined;
    return {
      update: (batch) => update(batch, reference, { ...context, options }),
      ...(options.zeroVariance === 'resample' && {
        resample: { keep: withoutZeroVariance, maxAttempts: options.maxResamples },
      }),
    };
  },
});
export default grpo;

type Context = AlgorithmContext<
  ReturnType<typeof resolveAlgorithm<GrpoOptions & LengthOptions & RunOptions>>
>;

/** The optimizer steps, `epochs` × `miniBatches` of them, from the scored trajectories of a rollout. */
async function update(
  { step, seed, ...played }: RolloutBatch,
  reference: Pick<Learner, 'forward'> | undefined,
  { options, parts, learner, optimize, report }: Context,
): Promise<Metrics> {
  const { temperature, epochs, beta, klIn, zeroVariance, credit } = options;
  const { learningRate = defaultLearningRate(learner), weightDecay, maxGradNorm } = options;
  const { trajectories, rows: all, lengthRewards } = shapedByLength(played, options);
  const nothing = { loss: 0, grad_norm: 0, learned_tokens: 0 };
  const loss = (parts.loss as Loss | undefined) ?? String(options.loss);
  const estimator =
    (parts.advantage as AdvantageEstimator | undefined) ?? estimators[String(options.advantage)]!;
  // A group whose episodes all scored the same teaches nothing, unless a penalty or a bonus pulls.
  const pulls = beta > 0 || options.entropyCoefficient > 0;
  const drops = zeroVariance !== 'keep' && !pulls;
  const isPlainScore = credit === 'episode' && !options.normaliseProcessRewards && !parts.advantage;
  const compared = drops && isPlainScore ? withoutZeroVariance(trajectories) : [...trajectories];
  const isCompared = new Set(compared);
  const placed = all.filter(({ trajectory }) => isCompared.has(trajectory));
  if (placed.length === 0) return nothing;

  // 1. What the policy, the sampler and the reference say of each token.
  const actions = placed.map((row) => row.mask);
  const wide = actions.map(completionMask);
  const mask = options.actionMask ? actions : wide;
  const rows = placed.map(({ tokens }, b) => ({ tokens, mask: mask[b]! }));
  const needsEntropy = options.entropyCoefficient > 0 || options.topEntropyQuantile < 1;
  const mismatchCorrection = correctionOf(options);
  // With one update per rollout, the sampled log-probabilities are the policy's own: nothing needs to be computed.
  const recomputes = needsEntropy || mismatchCorrection !== undefined || !options.actionMask;
  const before = recomputes ? await learner.forward({ rows, temperature }) : undefined;
  const oldLogprobs = before?.logprobs ?? placed.map((row) => row.logprobs);
  const sampledLogprobs = sampledLogprobsOf(placed, oldLogprobs);
  const referenceLogprobs = beta > 0 ? (await reference!.forward({ rows, temperature })).logprobs : undefined;

  // 2. What each token is worth.
  let rewards: TokenValues = placed.map((row) => row.rewards);
  if (options.normaliseProcessRewards) rewards = normalisedRewards(placed);
  const penalty: Metrics = {};
  if (lengthRewards) penalty.length_reward = mean(lengthRewards);
  if (beta === 0 && options.klEvery > 0 && (step + 1) % options.klEvery === 0) {
    penalty.kl = await klToStart(reference!, rows, oldLogprobs, temperature);
  }
  if (klIn === 'reward' && referenceLogprobs) {
    const penalised = penalisedRewards(rewards, oldLogprobs, referenceLogprobs, actions, options);
    rewards = penalised.rewards;
    penalty.kl = meanOverTokens(penalised.kl, actions);
  }
  const credited = options.advantageMask ? actions : wide;
  const inputs = advantageInputs(compared, placed, rewards, credited);
  const estimated = estimateAdvantages(estimator, inputs, { ...options });
  const carries = options.advantageMask && !options.actionMask;
  const advantages = carries ? carriedAdvantages(estimated, actions) : estimated;
  report('advantages', placed, advantages);
  if (before?.entropy) report('entropies', placed, before.entropy);

  // 3. Which episodes are learned from, so that the others do not dilute the averages.
  const groupOf = (b: number) => placed[b]!.trajectory.group;
  const differing = [...placed.keys()].filter((b) => advantages[b]!.some((advantage) => advantage !== 0));
  const worthwhile = new Set(differing.map(groupOf));
  const learned = [...placed.keys()].filter((b) => {
    if (options.truncated === 'mask' && placed[b]!.trajectory.outcome.kind === 'truncated') return false;
    return !drops || worthwhile.has(groupOf(b));
  });

  // 4. The loss and its gradient. Each optimizer step after the first needs the policy's new log-probabilities.
  const episodes = placed.map(({ trajectory }) => trajectory);
  const { maxTokens, maxCompletionLength = maxTokens } = options;
  const updates: Metrics[] = [];
  let ofSampler = before && samplerMetrics(before.logprobs, sampledLogprobs, mask);
  for (const part of miniBatchesOf(learned, options, seed, episodes)) {
    const pick = <T>(values: readonly T[]) => part.map((b) => values[b]!);
    const outputs = updates.length > 0 ? await learner.forward({ rows: pick(rows), temperature }) : undefined;
    const policy = {
      logprobs: outputs?.logprobs ?? pick(oldLogprobs),
      oldLogprobs: pick(oldLogprobs),
      entropy: outputs?.entropy ?? (before?.entropy && pick(before.entropy)),
      mask: pick(mask),
    };
    const { value, dLogprobs, dEntropy, metrics } = policyLoss(
      {
        ...policy,
        sampledLogprobs: pick(sampledLogprobs),
        referenceLogprobs: referenceLogprobs && pick(referenceLogprobs),
        advantages: pick(advantages),
        episodes: pick(episodes),
      },
      {
        ...options,
        loss,
        maxLength: maxCompletionLength,
        // Groups that are left out do not change the divisor of dr_grpo.
        stepEpisodes: (options.tasksPerStep * options.groupSize) / options.miniBatches,
        beta: klIn === 'loss' ? beta : 0,
        mismatchCorrection,
      },
    );
    const gradients = { dLogprobs, dEntropy };
    // Where every gradient is 0, neither momentum nor decay may move the weights.
    const { gradNorm, outputs: seen } = isZero(gradients)
      ? { gradNorm: 0 }
      : await optimize(pick(rows), gradients, { learningRate, weightDecay, maxGradNorm });
    // The first step's backward pass sees the weights that sampled.
    if (seen && !outputs) ofSampler ??= samplerMetrics(seen.logprobs, policy.oldLogprobs, policy.mask);
    if (seen?.entropy) report('entropies', pick(placed), seen.entropy);
    const ofPolicy = policyMetrics({ ...policy, outputs: seen });
    updates.push({ loss: value, grad_norm: gradNorm, ...ofPolicy, ...metrics, ...penalty });
  }
  if (updates.length === 0) return nothing;
  return {
    ...meanMetrics(updates),
    ...ofSampler,
    learned_tokens: epochs * learned.reduce((sum, b) => sum + placed[b]!.tokens.length, 0),
  };
}

function isZero({ dLogprobs, dEntropy = [] }: TokenGradients): boolean {
  return [...dLogprobs, ...dEntropy].every((row) => row.every((gradient) => gradient === 0));
}

/** @throws ToolEnvError `usage.bad_option` */
function refuseCritic(estimator: AdvantageEstimator | undefined): void {
  if (!estimator?.needsCritic) return;
  const message = `grpo: option "advantage": ${estimator.name} needs a critic: train with @toolenv/trainer-ppo/ppo-v1.`;
  throw new ToolEnvError('usage.bad_option', message);
}
