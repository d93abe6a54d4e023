/** GRPO and its critic-free family: compare the episodes of a group, and follow the clipped policy gradient. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import type { Learner } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import {
  type AdvantageEstimator,
  type AlgorithmContext,
  advantageInputs,
  advantageOptions,
  applyLengthRewards,
  type ConfigurableTrainer,
  checkLoss,
  computeLogprobs,
  defineTrainer,
  differsFromSampler,
  emptyUpdate,
  estimateAdvantages,
  estimatorOf,
  type LengthOptions,
  learnDefaults,
  learnedAdvantages,
  lengthOptions,
  lossOptions,
  meanOverTokens,
  type RolloutBatch,
  type RunOptions,
  rewardTokens,
  runOptimizerSteps,
  samplerMetrics,
  selectionOptions,
  tokenMasks,
  updateOptions,
  withoutZeroVariance,
} from '@toolenv/training';
import { resolveAlgorithm, withAlgorithmDefaults } from './algorithms.ts';
import { type GrpoOptions, grpoOptions } from './grpo-options.ts';
import { comparedEpisodes, learnedRows, zeroVarianceGroupsOf } from './zero-variance-groups.ts';

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
  resolve: (options, run) => ({ ...resolveAlgorithm(options), ...learnDefaults(options, run) }),
  async create(context) {
    const options = resolveAlgorithm(context.options);
    refuseCritic(context.parts.advantage as AdvantageEstimator | undefined);
    checkLoss('grpo', { ...context, options });
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

/** One update, from the scored episodes of a rollout. */
async function update(
  { step, seed, ...played }: RolloutBatch,
  reference: Pick<Learner, 'forward'> | undefined,
  context: Context,
): Promise<Metrics> {
  const { options, parts, learner, report } = context;
  const { beta, klIn, temperature } = options;
  const idle = zeroVarianceGroupsOf(options, parts.advantage !== undefined);
  const { lengthRewards, ...shaped } = applyLengthRewards(played, options, context.run);
  const { trajectories, rows } = comparedEpisodes(shaped, idle);
  if (rows.length === 0) return emptyUpdate;

  // 1. What the policy, the sampler and the reference say of each token.
  const masks = tokenMasks(rows, options);
  const scored = await computeLogprobs(rows, masks.learned, {
    // With one update per rollout, the sampled log-probabilities are the policy's own: nothing needs to be computed.
    ...(needsForward(context) && { learner }),
    ...(beta > 0 && reference && { reference }),
    temperature,
  });
  const { outputs, sampledLogprobs } = scored;

  // 2. What each token earned, and how much better that is than in the rest of its group.
  const penalty = klIn === 'reward' ? options : undefined;
  const earned = await rewardTokens({ rows, scored, lengthRewards }, penalty, reference, {
    ...options,
    step,
  });
  const { kl, rewards, metrics } = earned;
  if (kl) metrics.kl = meanOverTokens(kl, masks.action);
  const estimator = estimatorOf(context);
  const inputs = advantageInputs(trajectories, rows, rewards, masks.credited);
  const advantages = learnedAdvantages(estimateAdvantages(estimator, inputs, { ...options }), masks);
  report('advantages', rows, advantages);
  if (outputs?.entropy) report('entropies', rows, outputs.entropy);

  // 3. The optimizer steps, on the episodes that have something to teach: the others would dilute the averages.
  const learned = learnedRows(rows, advantages, idle, options.truncated);
  if (learned.length === 0) return emptyUpdate;
  const tokens = { ...scored, rows, mask: masks.learned, advantages };
  const klInLoss = klIn === 'loss' ? beta : 0;
  return {
    ...(await runOptimizerSteps(tokens, learned, { seed, klInLoss }, context)),
    ...(outputs && samplerMetrics(outputs.logprobs, sampledLogprobs, masks.learned)),
    ...metrics,
  };
}

function needsForward({ options, run }: Context): boolean {
  const needsEntropy = options.entropyCoefficient > 0 || options.topEntropyQuantile < 1;
  return needsEntropy || differsFromSampler(options, run) || !options.actionMask;
}

/** @throws ToolEnvError `usage.bad_option` */
function refuseCritic(estimator: AdvantageEstimator | undefined): void {
  if (!estimator?.needsCritic) return;
  const message = `grpo: option "advantage": ${estimator.name} needs a critic: train with @toolenv/trainer-ppo/ppo-v1.`;
  throw new ToolEnvError('usage.bad_option', message);
}
