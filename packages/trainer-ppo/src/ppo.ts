/** PPO: a critic estimates what each token was worth, and the policy follows the clipped gradient. The whole algorithm. */
import { type JsonSchema, ToolEnvError, type Trajectory } from '@toolenv/core';
import type { Learner, Rows, TokenOutputs, TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import {
  type AdvantageEstimator,
  type AdvantageInputs,
  type AlgorithmContext,
  adaptBeta,
  advantageInputs,
  applyLengthRewards,
  type ConfigurableTrainer,
  checkLoss,
  computeLogprobs,
  defineTrainer,
  emptyUpdate,
  estimateAdvantages,
  explainedVariance,
  generalizedAdvantages,
  learnDefaults,
  learnedAdvantages,
  lengthOptions,
  mean,
  meanOverEpisodes,
  type RolloutBatch,
  type RunOptions,
  rewardTokens,
  runOptimizerSteps,
  samplerMetrics,
  selectionOptions,
  type TurnAdvantages,
  tokenMasks,
  tokenStatistics,
  turnGeneralizedAdvantages,
  updateOptions,
  whiten,
  withoutZeroVariance,
} from '@toolenv/training';
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
  resolve: learnDefaults,
  async create(context) {
    const { options, learner } = context;
    refuseUnfit(context);
    await learner.addCritic!({ critic: options.critic });
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

/** Episodes in which the adaptive beta changes by a fifth at most. */
const klHorizon = 10_000;

/** One update, from the scored episodes of a rollout. */
async function update(
  { step, seed, ...played }: RolloutBatch,
  reference: Pick<Learner, 'forward'> | undefined,
  memory: { klCoefficient: number },
  context: AlgorithmContext<PpoOptions>,
): Promise<Metrics> {
  const { options, parts, learner, report } = context;
  const { temperature } = options;
  const isLearned = ({ outcome }: Trajectory) => options.truncated !== 'mask' || outcome.kind !== 'truncated';
  const { lengthRewards, ...shaped } = applyLengthRewards(played, options, context.run);
  const trajectories = shaped.trajectories.filter(isLearned);
  const rows = shaped.rows.filter(({ trajectory }) => isLearned(trajectory));
  if (rows.length === 0) return emptyUpdate;
  const episodes = rows.map(({ trajectory }) => trajectory);

  // 1. What policy, critic and reference say of each token.
  const masks = tokenMasks(rows, options);
  const { action, learned, credited } = masks;
  const seen = learned === action ? credited : learned;
  const penalised = options.beta > 0 && reference ? { reference } : {};
  const scored = await computeLogprobs(rows, seen, { learner, ...penalised, temperature });
  const { values, entropy, logprobs } = withValues(scored.outputs!);

  // 2. What each token earned.
  const beta = memory.klCoefficient;
  const earned = await rewardTokens({ rows, scored, lengthRewards }, { beta }, reference, {
    ...options,
    step,
  });
  const { scores, rewards, kl, metrics: penalty } = earned;
  if (kl) {
    penalty.kl = meanOverEpisodes(kl, action, episodes);
    penalty['actor/reward_kl_penalty_coeff'] = beta;
    const seek = { target: options.klTarget, horizon: klHorizon };
    if (options.klControl === 'adaptive')
      memory.klCoefficient = adaptBeta(beta, penalty.kl, trajectories.length, seek);
  }

  // 3. How much more that is than the critic expected.
  const inputs = { ...advantageInputs(trajectories, rows, rewards, credited), values };
  const estimated = estimateReturns(inputs, parts.advantage as AdvantageEstimator | undefined, options);
  const whitened = whiten(estimated.advantages, credited);
  const advantages = learnedAdvantages(whitened, masks);
  report('advantages', rows, advantages);
  if (entropy) report('entropies', rows, entropy);
  // 4. The optimizer steps of policy and critic. The critic learns where there are returns, the policy after the warm-up.
  const { returns, decisions } = estimated;
  const optimized = await runOptimizerSteps(
    { ...scored, rows, mask: learned, advantages },
    [...rows.keys()],
    // The penalty is in the rewards.
    { seed, klInLoss: 0 },
    context,
    { ...options, returns, mask: decisions, criticOnly: step < options.criticWarmup },
  );
  return {
    ...samplerMetrics(logprobs, scored.sampledLogprobs, action),
    'critic/score/mean': meanScore(inputs, scores, action),
    'critic/rewards/mean': meanScore(inputs, rewards, action),
    ...tokenStatistics('critic/values', values, decisions),
    ...tokenStatistics('critic/returns', returns, decisions),
    ...tokenStatistics('critic/advantages', whitened, credited),
    'critic/vf_explained_var': explainedVariance(values, returns, decisions),
    ...optimized,
    ...penalty,
  };
}

/**
 * Refuses what PPO cannot train.
 * @throws ToolEnvError `usage.no_critic` or `usage.bad_option`
 */
function refuseUnfit(context: AlgorithmContext<PpoOptions>): void {
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
  checkLoss('ppo', context);
  if (options.credit === 'turn' && parts.advantage) {
    const message = `ppo: option "credit": turn is for the advantage gae; ${parts.advantage.name} has its own credit.`;
    throw new ToolEnvError('usage.bad_option', message);
  }
}

/** The mean reward of the episodes. An outcome that several leaves of an episode have counts once. */
function meanScore(
  { trajectories, rows }: AdvantageInputs,
  rewards: TokenValues,
  mask: Uint8Array[],
): number {
  return mean(advantageInputs(trajectories, rows, rewards, mask).scores);
}

function withValues({ values, ...outputs }: TokenOutputs): TokenOutputs & { values: Rows } {
  if (values) return { ...outputs, values };
  throw new ToolEnvError('bug.critic', 'The learner gives no values: its addCritic must make forward do so.');
}

/** @param estimator The user's. The critic then learns advantage + value on each token. */
function estimateReturns(
  inputs: AdvantageInputs & { values: TokenValues },
  estimator: AdvantageEstimator | undefined,
  options: PpoOptions,
): TurnAdvantages {
  const { rows, rewards, values, mask, parents } = inputs;
  const decisions = [...mask];
  if (estimator) {
    const advantages = estimateAdvantages(estimator, inputs, { ...options });
    const returns = advantages.map((row, b) =>
      row.map((advantage, t) => (mask[b]![t] === 1 ? advantage + values[b]![t]! : 0)),
    );
    return { advantages, returns, decisions };
  }
  if (options.credit === 'turn') {
    const turns = rows.map((row) => row.turns);
    return turnGeneralizedAdvantages(rewards, values, mask, turns, parents, options);
  }
  return { ...generalizedAdvantages(rewards, values, mask, parents, options), decisions };
}
