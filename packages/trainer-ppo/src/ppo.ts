/** PPO: a critic estimates what each token was worth, and the policy follows the clipped gradient. The whole algorithm. */
import { ToolEnvError } from '@toolenv/core';
import type { Learner, TokenOutputs, TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import {
  type AlgorithmContext,
  adaptBeta,
  type ConfigurableTrainer,
  completionMask,
  defineTrainer,
  explainedVariance,
  generalizedAdvantages,
  klToStart,
  meanMetrics,
  meanOverRows,
  miniBatchesOf,
  normalisedRewards,
  penalisedRewards,
  policyLoss,
  policyMetrics,
  type RolloutBatch,
  type RunOptions,
  samplerMetrics,
  sumOverTokens,
  tokenStatistics,
  updateOptions,
  valueLoss,
  whiten,
} from '@toolenv/training';
import { type PpoOptions, ppoOptions } from './ppo-options.ts';

export const ppo: ConfigurableTrainer<PpoOptions & RunOptions> = defineTrainer({
  name: 'ppo',
  description: 'Proximal policy optimisation (arXiv 1707.06347) with a critic of tokens',
  options: { ...ppoOptions, properties: { ...ppoOptions.properties, ...updateOptions } },
  defaults: { tasksPerStep: 128, groupSize: 1 },
  async create(context: AlgorithmContext<PpoOptions>) {
    const { options, learner, run } = context;
    if (!learner.addCritic) {
      const message = `ppo needs a critic, which the learner of ${run.policy.spec.name} cannot have: train with @toolenv/trainer-grpo/grpo-v1.`;
      throw new ToolEnvError('usage.no_critic', message);
    }
    await learner.addCritic({ critic: options.critic });
    const reference = options.beta > 0 || options.klEvery > 0 ? await learner.reference() : undefined;
    const memory = { klCoefficient: options.beta };
    return {
      // A fixed coefficient is the option's, also in a resumed run.
      memory: options.klControl === 'adaptive' ? memory : {},
      update: (batch) => update(batch, reference, memory, context),
    };
  },
});
export default ppo;

/** The optimizer steps, `epochs` × `miniBatches` of them, from the scored trajectories of a rollout. */
async function update(
  { step, seed, trajectories, rows: placed }: RolloutBatch,
  reference: Pick<Learner, 'forward'> | undefined,
  memory: { klCoefficient: number },
  { options, learner, optimize }: AlgorithmContext<PpoOptions>,
): Promise<Metrics> {
  const { temperature, gamma, lambda, valueCoefficient, klControl, klTarget, klHorizon } = options;
  const { learningRate, criticLearningRate, weightDecay, maxGradNorm } = options;
  const action = placed.map(({ mask }) => mask);
  const wide = action.map(completionMask);

  // 1. What policy, critic and reference say of each token.
  const seen = options.actionMask && options.advantageMask ? action : wide;
  const rows = placed.map(({ tokens }, b) => ({ tokens, mask: seen[b]! }));
  const before = withValues(await learner.forward({ rows, temperature }));
  const referenceLogprobs =
    options.beta > 0 ? (await reference!.forward({ rows, temperature })).logprobs : undefined;

  // 2. What each token earned.
  const scores: TokenValues = options.normaliseProcessRewards
    ? normalisedRewards(placed)
    : placed.map(({ rewards }) => rewards);
  let rewards = scores;
  const penalty: Metrics = {};
  if (options.beta === 0 && options.klEvery > 0 && (step + 1) % options.klEvery === 0) {
    penalty.kl = await klToStart(reference!, rows, before.logprobs, temperature);
  }
  if (referenceLogprobs) {
    const beta = memory.klCoefficient;
    const penalised = penalisedRewards(scores, before.logprobs, referenceLogprobs, action, { beta });
    rewards = penalised.rewards;
    penalty.kl = meanOverRows(penalised.kl, action);
    penalty['actor/reward_kl_penalty_coeff'] = beta;
    if (klControl === 'adaptive') {
      const seek = { target: klTarget, horizon: klHorizon };
      memory.klCoefficient = adaptBeta(beta, penalty.kl, trajectories.length, seek);
    }
  }

  // 3. How much more that is than the critic expected.
  const credited = options.advantageMask ? action : wide;
  const episodes = placed.map(({ trajectory }) => trajectory);
  const estimated = generalizedAdvantages(rewards, before.values, credited, episodes, { gamma, lambda });
  const advantages = whiten(estimated.advantages, credited);
  const sampled = placed.map(({ logprobs }) => logprobs);
  const metrics: Metrics = {
    ...samplerMetrics(before.logprobs, sampled, action),
    'critic/score/mean': sumOverTokens(scores, action) / trajectories.length,
    'critic/rewards/mean': sumOverTokens(rewards, action) / trajectories.length,
    ...tokenStatistics('critic/values', before.values, credited),
    ...tokenStatistics('critic/returns', estimated.returns, credited),
    ...tokenStatistics('critic/advantages', advantages, credited),
    'critic/vf_explained_var': explainedVariance(before.values, estimated.returns, credited),
  };

  // 4. The losses and their gradients. Each optimizer step after the first needs new log-probabilities and values.
  const lossMask = options.actionMask ? action : wide;
  // The critic learns where there are returns.
  const valueMask = lossMask.map((row, b) => row.map((bit, t) => bit & credited[b]![t]!));
  const criticOnly = step < options.criticWarmup;
  const updates: Metrics[] = [];
  for (const part of miniBatchesOf([...placed.keys()], options, seed)) {
    const pick = <T>(values: readonly T[]) => part.map((b) => values[b]!);
    const { logprobs, entropy, values } =
      updates.length > 0
        ? withValues(await learner.forward({ rows: pick(rows), temperature }))
        : { logprobs: pick(before.logprobs), entropy: pick(before.entropy), values: pick(before.values) };
    const oldLogprobs = pick(before.logprobs);
    const policy = { logprobs, oldLogprobs, entropy, mask: pick(lossMask) };
    const ofPolicy = policyLoss(
      { ...policy, advantages: pick(advantages) },
      { ...options, loss: 'bnpo', beta: 0 },
    );
    const ofValues = valueLoss(
      {
        values,
        oldValues: pick(before.values),
        returns: pick(estimated.returns),
        mask: pick(valueMask),
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

function withValues({ values, ...outputs }: TokenOutputs): Required<TokenOutputs> {
  if (values) return { ...outputs, values };
  throw new ToolEnvError('bug.critic', 'The learner gives no values: its addCritic must make forward do so.');
}
