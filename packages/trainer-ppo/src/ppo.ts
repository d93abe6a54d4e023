/** PPO: a critic estimates what each token was worth, and the policy follows the clipped gradient. The whole algorithm. */
import { type JsonSchema, ToolEnvError, type Trajectory } from '@toolenv/core';
import type { Learner, Rows, TokenOutputs, TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import {
  type AdvantageEstimator,
  type AlgorithmContext,
  adaptBeta,
  advantageInputs,
  type ConfigurableTrainer,
  carriedAdvantages,
  completionMask,
  correctionOf,
  defaultLearningRate,
  defineTrainer,
  explainedVariance,
  klToStart,
  type Loss,
  lengthOptions,
  mean,
  meanMetrics,
  meanOverEpisodes,
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
  tokenStatistics,
  updateOptions,
  valueLoss,
  whiten,
  withoutZeroVariance,
} from '@toolenv/training';
import { estimateReturns } from './estimate-returns.ts';
import { type PpoOptions, policyLossOptions, ppoOptions } from './ppo-options.ts';

export const ppo: ConfigurableTrainer<PpoOptions & RunOptions> = defineTrainer<JsonSchema, PpoOptions>({
  name: 'ppo',
  description: 'Proximal policy optimisation (arXiv 1707.06347) with a critic of tokens',
  options: {
    ...ppoOptions,
    properties: {
      ...ppoOptions.properties,
      ...policyLossOptions,
      ...lengthOptions,
      ...selectionOptions,
      truncated: { ...selectionOptions.truncated, default: 'learn' },
      ...updateOptions,
    },
  },
  defaults: { tasksPerStep: 128, groupSize: 1 },
  async create(context) {
    const { options, learner, run, parts } = context;
    if (!learner.addCritic) {
      const message = `ppo needs a critic, which the learner of ${run.policy.spec.name} cannot have: train with @toolenv/trainer-grpo/grpo-v1.`;
      throw new ToolEnvError('usage.no_critic', message);
    }
    if (options.zeroVariance === 'resample' && options.groupSize < 2) {
      const message =
        'ppo: option "zeroVariance": resample compares the episodes of a task: give a groupSize of 2 or more.';
      throw new ToolEnvError('usage.bad_option', message);
    }
    if (options.credit === 'turn' && parts.advantage) {
      const message = `ppo: option "credit": turn is for the advantage gae; ${parts.advantage.name} has its own credit.`;
      throw new ToolEnvError('usage.bad_option', message);
    }
    await learner.addCritic({ critic: options.critic });
    const reference = options.beta > 0 || options.klEvery > 0 ? await learner.reference() : undefined;
    const memory = { klCoefficient: options.beta };
    return {
      // A fixed coefficient is the option's, also in a resumed run.
      memory: options.klControl === 'adaptive' ? memory : {},
      update: (batch) => update(batch, reference, memory, context),
      ...(options.zeroVariance === 'resample' && {
        resample: { keep: withoutZeroVariance, maxAttempts: options.maxResamples },
      }),
    };
  },
});
export default ppo;

/** The optimizer steps, `epochs` × `miniBatches` of them, from the scored trajectories of a rollout. */
async function update(
  { step, seed, ...played }: RolloutBatch,
  reference: Pick<Learner, 'forward'> | undefined,
  memory: { klCoefficient: number },
  { options, parts, learner, optimize, report }: AlgorithmContext<PpoOptions>,
): Promise<Metrics> {
  const { temperature, valueCoefficient, klControl, klTarget, klHorizon } = options;
  const loss = (parts.loss as Loss | undefined) ?? String(options.loss);
  const { learningRate = defaultLearningRate(learner), criticLearningRate } = options;
  const { weightDecay, maxGradNorm } = options;
  const shaped = shapedByLength(played, options);
  const { lengthRewards } = shaped;
  const isLearned = ({ outcome }: Trajectory) => options.truncated !== 'mask' || outcome.kind !== 'truncated';
  const trajectories = shaped.trajectories.filter(isLearned);
  const placed = shaped.rows.filter(({ trajectory }) => isLearned(trajectory));
  if (placed.length === 0) return { loss: 0, grad_norm: 0, learned_tokens: 0 };
  const action = placed.map(({ mask }) => mask);
  const episodes = placed.map(({ trajectory }) => trajectory);
  const wide = action.map(completionMask);

  // 1. What policy, critic and reference say of each token.
  const seen = options.actionMask && options.advantageMask ? action : wide;
  const rows = placed.map(({ tokens }, b) => ({ tokens, mask: seen[b]! }));
  const before = withValues(await learner.forward({ rows, temperature }));
  const sampledLogprobs = sampledLogprobsOf(placed, before.logprobs);
  const referenceLogprobs =
    options.beta > 0 ? (await reference!.forward({ rows, temperature })).logprobs : undefined;

  // 2. What each token earned.
  const scores: TokenValues = options.normaliseProcessRewards
    ? normalisedRewards(placed)
    : placed.map(({ rewards }) => rewards);
  let rewards = scores;
  const penalty: Metrics = {};
  if (lengthRewards) penalty.length_reward = mean(lengthRewards);
  if (options.beta === 0 && options.klEvery > 0 && (step + 1) % options.klEvery === 0) {
    penalty.kl = await klToStart(reference!, rows, before.logprobs, temperature);
  }
  if (referenceLogprobs) {
    const beta = memory.klCoefficient;
    const penalised = penalisedRewards(scores, before.logprobs, referenceLogprobs, action, { beta });
    rewards = penalised.rewards;
    penalty.kl = meanOverEpisodes(penalised.kl, action, episodes);
    penalty['actor/reward_kl_penalty_coeff'] = beta;
    if (klControl === 'adaptive') {
      const seek = { target: klTarget, horizon: klHorizon };
      memory.klCoefficient = adaptBeta(beta, penalty.kl, trajectories.length, seek);
    }
  }

  // 3. How much more that is than the critic expected.
  const credited = options.advantageMask ? action : wide;
  const inputs = { ...advantageInputs(trajectories, placed, rewards, credited), values: before.values };
  const estimated = estimateReturns(inputs, parts.advantage as AdvantageEstimator | undefined, options);
  const whitened = whiten(estimated.advantages, credited);
  const carries = options.advantageMask && !options.actionMask;
  const advantages = carries ? carriedAdvantages(whitened, action) : whitened;
  report('advantages', placed, advantages);
  if (before.entropy) report('entropies', placed, before.entropy);
  // An outcome that several leaves of an episode have counts once.
  const meanScore = (of: TokenValues) => mean(advantageInputs(trajectories, placed, of, action).scores);
  const metrics: Metrics = {
    ...samplerMetrics(before.logprobs, sampledLogprobs, action),
    'critic/score/mean': meanScore(scores),
    'critic/rewards/mean': meanScore(rewards),
    ...tokenStatistics('critic/values', before.values, estimated.decisions),
    ...tokenStatistics('critic/returns', estimated.returns, estimated.decisions),
    ...tokenStatistics('critic/advantages', whitened, credited),
    'critic/vf_explained_var': explainedVariance(before.values, estimated.returns, estimated.decisions),
  };

  // 4. The losses and their gradients. Each optimizer step after the first needs new log-probabilities and values.
  const lossMask = options.actionMask ? action : wide;
  const criticOnly = step < options.criticWarmup;
  const { maxTokens, maxCompletionLength = maxTokens } = options;
  const updates: Metrics[] = [];
  for (const part of miniBatchesOf([...placed.keys()], options, seed, episodes)) {
    const pick = <T>(values: readonly T[]) => part.map((b) => values[b]!);
    const { logprobs, entropy, values } =
      updates.length > 0
        ? withValues(await learner.forward({ rows: pick(rows), temperature }))
        : {
            logprobs: pick(before.logprobs),
            entropy: before.entropy && pick(before.entropy),
            values: pick(before.values),
          };
    const oldLogprobs = pick(before.logprobs);
    const policy = { logprobs, oldLogprobs, entropy, mask: pick(lossMask) };
    const ofPolicy = policyLoss(
      {
        ...policy,
        sampledLogprobs: pick(sampledLogprobs),
        advantages: pick(advantages),
        episodes: pick(episodes),
      },
      {
        ...options,
        loss,
        maxLength: maxCompletionLength,
        stepEpisodes: (options.tasksPerStep * options.groupSize) / options.miniBatches,
        // The penalty is in the rewards.
        beta: 0,
        mismatchCorrection: correctionOf(options),
      },
    );
    const ofValues = valueLoss(
      {
        values,
        oldValues: pick(before.values),
        returns: pick(estimated.returns),
        // The critic learns where there are returns.
        mask: pick(estimated.decisions),
      },
      options,
    );
    const dValues = ofValues.dValues.map((row) => row.map((slope) => valueCoefficient * slope));
    const { dLogprobs, dEntropy } = ofPolicy;
    const { gradNorm, criticGradNorm = 0 } = await optimize(
      pick(rows),
      { dLogprobs, dValues, ...(dEntropy && { dEntropy }) },
      { learningRate, weightDecay, maxGradNorm, criticOnly, critic: { learningRate: criticLearningRate } },
    );
    const ofActor = {
      ...policyMetrics(policy),
      ...ofPolicy.metrics,
      loss: ofPolicy.value,
      grad_norm: gradNorm,
    };
    updates.push({ ...ofValues.metrics, 'critic/grad_norm': criticGradNorm, ...(!criticOnly && ofActor) });
  }
  const tokens = placed.reduce((sum, row) => sum + row.tokens.length, 0);
  return { ...metrics, ...meanMetrics(updates), ...penalty, learned_tokens: options.epochs * tokens };
}

function withValues({ values, ...outputs }: TokenOutputs): TokenOutputs & { values: Rows } {
  if (values) return { ...outputs, values };
  throw new ToolEnvError('bug.critic', 'The learner gives no values: its addCritic must make forward do so.');
}
