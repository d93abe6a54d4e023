/** PPO: play episodes, estimate with a critic what each token was worth, follow the clipped gradient. The whole algorithm. */
import { collect, deriveSeed, rollout, ToolEnvError, type Trajectory } from '@toolenv/core';
import type { Learner, TokenOutputs, TokenValues } from '@toolenv/core/learner';
import type { Metrics, Run, TrainEvent, Trainer } from '@toolenv/core/plugins';
import {
  completionMask,
  defineTrainer,
  drawEpisodes,
  generalizedAdvantages,
  meanMetrics,
  miniBatchesOf,
  normalisedRewards,
  optimizerStep,
  resumeCheckpoint,
  rolloutMetrics,
  saveCheckpoint,
  toTrainingRows,
  validationScores,
  whiten,
} from '@toolenv/training';
import { AdaptiveKl, FixedKl, type KlController, penalisedRewards } from './kl-in-reward.ts';
import { policyLoss } from './policy-loss.ts';
import { type PpoOptions, ppoOptions } from './ppo-options.ts';
import { explainedVariance, tokenStatistics } from './token-statistics.ts';
import { valueLoss } from './value-loss.ts';

export const ppo: Trainer<PpoOptions> = defineTrainer({
  name: 'ppo',
  description: 'Proximal policy optimisation (arXiv 1707.06347) with a critic of tokens',
  options: ppoOptions,
  train,
});
export default ppo;

type Options = PpoOptions & Run;
type Reference = Pick<Learner, 'forward'>;

async function* train(run: Run, given: Partial<PpoOptions>): AsyncGenerator<TrainEvent, void, void> {
  const options: Options = { ...(given as PpoOptions), ...run };
  const { policy, learner, out, seed, signal, steps, checkpointEvery, evaluateEvery } = options;
  if (!learner.addCritic) {
    const message = `ppo needs a critic, which the learner of ${policy.spec.name} cannot have: train with @toolenv/trainer-grpo/grpo-v1.`;
    throw new ToolEnvError('usage.no_critic', message);
  }
  await learner.addCritic({ critic: options.critic });
  const reference = options.beta > 0 ? await learner.reference() : undefined;
  const resumed = options.resume ? await resumeCheckpoint(out, learner) : undefined;
  const kl = klController(options, resumed?.memory?.klCoefficient);
  let step = resumed?.step ?? 0;
  /** Whether the weights are those after `step` steps. */
  let isWhole = true;
  /** Whether these were to be evaluated, and have not been. */
  let isDue = resumed?.memory?.evaluationDue === 1;
  const save = () => {
    const memory = { klCoefficient: kl.coefficient, ...(isDue && { evaluationDue: 1 }) };
    return saveCheckpoint(out, learner, { step, seed, memory });
  };

  try {
    if (isDue) yield { type: 'evaluation', step, metrics: await validationScores(options) };
    isDue = false;
    while (step < steps) {
      const stepSeed = deriveSeed(seed, 'step', step);
      const started = performance.now();
      const trajectories = await play(options, step, stepSeed);
      const rolledOut = performance.now();
      const metrics = rolloutMetrics(trajectories, (rolledOut - started) / 1000);
      yield { type: 'rollout', step: step + 1, metrics, trajectories };
      signal?.throwIfAborted();

      const scored = trajectories.filter(({ reward }) => reward !== null);
      isWhole = false;
      const learned = await update(scored, reference, kl, options, { step, stepSeed });
      step += 1;
      isWhole = true;
      const seconds = (performance.now() - rolledOut) / 1000;
      yield { type: 'update', step, metrics: { ...learned, 'time/update': seconds } };
      isDue = evaluateEvery > 0 && step % evaluateEvery === 0;
      if (isDue) yield { type: 'evaluation', step, metrics: await validationScores(options) };
      isDue = false;
      if (step === steps || (checkpointEvery > 0 && step % checkpointEvery === 0)) {
        yield { type: 'checkpoint', step, folder: await save() };
      }
    }
  } catch (error) {
    if (!signal?.aborted || step === 0 || !isWhole) throw error;
    // An interrupted run keeps every finished step.
    yield { type: 'checkpoint', step, folder: await save() };
    throw signal.reason;
  }
}

/** @param adapted The coefficient that an earlier part of the run had come to. */
function klController(
  { beta, klControl, klTarget: target, klHorizon: horizon }: PpoOptions,
  adapted: number | undefined,
): KlController {
  return klControl === 'adaptive' ? new AdaptiveKl(adapted ?? beta, { target, horizon }) : new FixedKl(beta);
}

async function play(options: Options, step: number, seed: number): Promise<Trajectory[]> {
  const { env, policy, deadline, signal, maxTokens, temperature } = options;
  const episodes = drawEpisodes(env.tasks.train, options, step);
  const sampling = { maxTokens, temperature };
  const run = { env, policy, episodes, concurrency: episodes.length, sampling, deadline, signal, seed };
  return collect(rollout(run));
}

/** The optimizer steps, `epochs` × `miniBatches` of them, from the scored trajectories of a rollout. */
async function update(
  trajectories: Trajectory[],
  reference: Reference | undefined,
  kl: KlController,
  options: Options,
  { step, stepSeed }: { step: number; stepSeed: number },
): Promise<Metrics> {
  const { learner, temperature, gamma, lambda, valueCoefficient } = options;
  const { learningRate, criticLearningRate, weightDecay, maxGradNorm, out } = options;
  const placed = trajectories.flatMap(toTrainingRows);
  if (placed.length === 0) return { learned_tokens: 0 };
  const action = placed.map(({ mask }) => mask);
  const wide = action.map(completionMask);

  // 1. What policy, critic and reference say of each token.
  const seen = options.actionMask && options.advantageMask ? action : wide;
  const rows = placed.map(({ tokens }, b) => ({ tokens, mask: seen[b]! }));
  const before = withValues(await learner.forward({ rows, temperature }));
  const referenceLogprobs = (await reference?.forward({ rows, temperature }))?.logprobs;

  // 2. What each token earned.
  const scores: TokenValues = options.normaliseProcessRewards
    ? normalisedRewards(placed)
    : placed.map(({ rewards }) => rewards);
  const penalty = referenceLogprobs
    ? penalisedRewards(scores, before.logprobs, referenceLogprobs, action, kl.coefficient)
    : undefined;
  const rewards = penalty?.rewards ?? scores;

  // 3. How much more that is than the critic expected.
  const credited = options.advantageMask ? action : wide;
  const episodes = placed.map(({ trajectory }) => trajectory);
  const estimated = generalizedAdvantages(rewards, before.values, credited, episodes, { gamma, lambda });
  const advantages = whiten(estimated.advantages, credited);
  const metrics: Metrics = {
    'critic/score/mean': meanOfEpisodes(scores, action, trajectories.length),
    'critic/rewards/mean': meanOfEpisodes(rewards, action, trajectories.length),
    ...tokenStatistics('critic/values', before.values, credited),
    ...tokenStatistics('critic/returns', estimated.returns, credited),
    ...tokenStatistics('critic/advantages', advantages, credited),
    'critic/vf_explained_var': explainedVariance(before.values, estimated.returns, credited),
  };
  if (penalty) {
    metrics['actor/reward_kl_penalty'] = penalty.kl;
    metrics['actor/reward_kl_penalty_coeff'] = kl.coefficient;
    kl.update(penalty.kl, trajectories.length);
  }

  // 4. The losses and their gradients; each optimizer step after the first asks again what policy and critic say by now.
  const lossMask = options.actionMask ? action : wide;
  // The critic learns where there are returns.
  const valueMask = lossMask.map((row, b) => row.map((bit, t) => bit & credited[b]![t]!));
  const criticOnly = step < options.criticWarmup;
  const updates: Metrics[] = [];
  for (const part of miniBatchesOf([...placed.keys()], options, stepSeed)) {
    const pick = <T>(values: readonly T[]) => part.map((b) => values[b]!);
    const batch = { rows: pick(rows), temperature };
    const now =
      updates.length > 0
        ? withValues(await learner.forward(batch))
        : { logprobs: pick(before.logprobs), entropy: pick(before.entropy), values: pick(before.values) };
    const ofPolicy = policyLoss(
      {
        logprobs: now.logprobs,
        entropy: now.entropy,
        oldLogprobs: pick(before.logprobs),
        mask: pick(lossMask),
        advantages: pick(advantages),
      },
      options,
    );
    const ofValues = valueLoss(
      {
        values: now.values,
        oldValues: pick(before.values),
        returns: pick(estimated.returns),
        mask: pick(valueMask),
      },
      options,
    );
    const dValues = ofValues.dValues.map((row) => row.map((slope) => valueCoefficient * slope));
    const { dLogprobs, dEntropy } = ofPolicy;
    const gradients = { dLogprobs, dValues, ...(dEntropy && { dEntropy }) };
    const { gradNorm, criticGradNorm = 0 } = await optimizerStep(learner, batch, gradients, {
      learningRate,
      weightDecay,
      maxGradNorm,
      criticOnly,
      critic: { learningRate: criticLearningRate },
      out,
    });
    const ofActor = { ...ofPolicy.metrics, 'actor/grad_norm': gradNorm };
    updates.push({ ...ofValues.metrics, 'critic/grad_norm': criticGradNorm, ...(!criticOnly && ofActor) });
  }
  const tokens = placed.reduce((sum, row) => sum + row.tokens.length, 0);
  return { ...metrics, ...meanMetrics(updates), learned_tokens: options.epochs * tokens };
}

function withValues({ values, ...outputs }: TokenOutputs): Required<TokenOutputs> {
  if (values) return { ...outputs, values };
  throw new ToolEnvError('bug.critic', 'The learner gives no values: its addCritic must make forward do so.');
}

function meanOfEpisodes(rewards: TokenValues, mask: readonly Uint8Array[], episodes: number): number {
  let total = 0;
  for (const [b, row] of mask.entries()) {
    for (let t = 0; t < row.length; t++) if (row[t] === 1) total += rewards[b]![t]!;
  }
  return total / episodes;
}
