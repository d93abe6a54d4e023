/** GRPO: sample groups of episodes, compare each with its group, follow the clipped policy gradient. The whole algorithm. */
import { collect, deriveSeed, type EpisodeRequest, rollout, type Trajectory } from '@toolenv/core';
import type { TokenValues } from '@toolenv/core/learner';
import type { Metrics, Run, TrainEvent, Trainer } from '@toolenv/core/plugins';
import {
  completionMask,
  defineTrainer,
  drawEpisodes,
  meanMetrics,
  miniBatchesOf,
  normalisedRewards,
  optimizerStep,
  playAhead,
  resumeCheckpoint,
  rolloutMetrics,
  saveCheckpoint,
  toTrainingRows,
  validationScores,
} from '@toolenv/training';
import { estimateAdvantages } from './advantages.ts';
import { type AlgorithmOptions, resolveAlgorithm } from './algorithms.ts';
import { drawReplacements } from './draw-replacements.ts';
import { type GrpoOptions, grpoOptions } from './grpo-options.ts';
import { penalisedRewards } from './kl-penalty.ts';
import { policyLoss } from './policy-loss.ts';
import { shuffleRewards } from './shuffled-rewards.ts';
import { withoutZeroVariance, zeroVarianceFraction } from './zero-variance.ts';

export const grpo: Trainer<GrpoOptions> = defineTrainer({
  name: 'grpo',
  description: 'Group relative policy optimisation (arXiv 2402.03300) and its critic-free family',
  options: grpoOptions,
  train,
});
export default grpo;

type Options = GrpoOptions & AlgorithmOptions & Run;
type Reference = Awaited<ReturnType<Run['learner']['reference']>>;

async function* train(run: Run, given: Partial<GrpoOptions>): AsyncGenerator<TrainEvent, void, void> {
  const options = resolveAlgorithm({ ...(given as GrpoOptions), ...run });
  const { learner, out, seed, signal, steps, checkpointEvery, evaluateEvery } = options;
  const reference = options.beta > 0 ? await learner.reference() : undefined;
  const resumed = options.resume ? await resumeCheckpoint(out, learner) : undefined;
  let step = resumed?.step ?? 0;
  /** Whether the weights are those after `step` steps. */
  let isWhole = true;
  /** Whether these were to be evaluated, and have not been. */
  let isDue = resumed?.memory?.evaluationDue === 1;
  const save = () =>
    saveCheckpoint(out, learner, { step, seed, ...(isDue && { memory: { evaluationDue: 1 } }) });

  try {
    if (isDue) yield { type: 'evaluation', step, metrics: await validationScores(options) };
    isDue = false;
    const ahead = { from: step, to: steps, ahead: options.staleness, signal };
    const rollouts = playAhead(ahead, (at, stop) => playGroups({ ...options, signal: stop }, at));
    for await (const { rollout, staleness } of rollouts) {
      const { played, compared, attempts, seconds } = rollout;
      yield {
        type: 'rollout',
        step: step + 1,
        metrics: {
          ...rolloutMetrics(played, seconds),
          frac_reward_zero_std: zeroVarianceFraction(played),
          ...(options.zeroVariance === 'resample' && { num_gen_batches: attempts }),
        },
        trajectories: played,
      };
      signal?.throwIfAborted();

      const started = performance.now();
      isWhole = false;
      const metrics = await update(compared, reference, options, deriveSeed(seed, 'step', step));
      step += 1;
      isWhole = true;
      yield {
        type: 'update',
        step,
        metrics: {
          ...metrics,
          ...(options.staleness > 0 && { staleness }),
          'time/update': (performance.now() - started) / 1000,
        },
      };
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

/**
 * Plays the step's groups. With `resample`, groups whose episodes all scored the same give way to others, as in DAPO
 * (arXiv 2503.14476), for as many attempts as there may be.
 */
async function playGroups(
  options: Options,
  step: number,
): Promise<{ played: Trajectory[]; compared: Trajectory[]; attempts: number; seconds: number }> {
  const { env, policy, deadline, signal, maxTokens, temperature, tasksPerStep } = options;
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const stepSeed = deriveSeed(options.seed, 'step', step);
  // Played ahead, a rollout depends on timing anyway: then nobody waits long for another's tools.
  const sampling = { maxTokens, temperature, ...(options.staleness > 0 && { batchDelay: 10 }) };
  const play = (episodes: EpisodeRequest[]) => {
    const run = { env, policy, sampling, deadline, signal, seed: stepSeed };
    return collect(rollout({ ...run, episodes, concurrency: episodes.length }));
  };
  const scored = (trajectories: Trajectory[]) => {
    const kept = trajectories.filter(({ reward }) => reward !== null);
    return options.control === 'shuffled-rewards' ? shuffleRewards(kept, stepSeed) : kept;
  };

  const played = await play(drawEpisodes(env.tasks.train, options, step));
  if (options.zeroVariance !== 'resample') {
    return { played, compared: scored(played), attempts: 1, seconds: seconds() };
  }
  const compared = withoutZeroVariance(scored(played));
  let attempts = 1;
  for (; attempts <= options.maxResamples; attempts++) {
    const missing = tasksPerStep - new Set(compared.map(({ group }) => group)).size;
    if (missing === 0) break;
    const others = await play(drawReplacements(env.tasks.train, options, step, attempts, missing));
    for (const trajectory of others) trajectory.index = played.push(trajectory) - 1;
    compared.push(...withoutZeroVariance(scored(others)));
  }
  return { played, compared, attempts, seconds: seconds() };
}

/** The optimizer steps, `epochs` × `miniBatches` of them, from the scored trajectories of a rollout. */
async function update(
  trajectories: Trajectory[],
  reference: Reference | undefined,
  options: Options,
  stepSeed: number,
): Promise<Metrics> {
  const { learner, temperature, epochs, beta, klIn, zeroVariance, credit } = options;
  const nothing = { loss: 0, grad_norm: 0, learned_tokens: 0 };
  // Where a whole group scored the same there is nothing to learn, unless a penalty or a bonus pulls.
  const pulls = beta > 0 || options.entropyCoefficient > 0;
  const drops = zeroVariance !== 'keep' && !pulls;
  const isPlainScore = credit === 'episode' && !options.normaliseProcessRewards;
  const compared = drops && isPlainScore ? withoutZeroVariance(trajectories) : trajectories;
  const placed = compared.flatMap(toTrainingRows);
  if (placed.length === 0) return nothing;

  // 1. What the policy, the sampler and the reference say of each token.
  const wide = placed.map(({ mask }) => completionMask(mask));
  const mask = options.actionMask ? placed.map((row) => row.mask) : wide;
  const rows = placed.map(({ tokens }, b) => ({ tokens, mask: mask[b]! }));
  const needsEntropy = options.entropyCoefficient > 0 || options.topEntropyQuantile < 1;
  // Weights that changed since a token was sampled make the sampler another policy than the one that learns.
  const correction = options.mismatchCorrection ?? (options.staleness > 0 ? 'token_truncate' : 'none');
  // One update per rollout is strictly on-policy: what was sampled is what the policy says now, and need not be computed.
  const recomputes = needsEntropy || correction !== 'none' || !options.actionMask;
  const before = recomputes ? await learner.forward({ rows, temperature }) : undefined;
  const oldLogprobs = before?.logprobs ?? placed.map((row) => row.logprobs);
  const sampledLogprobs = placed.map((row, b) =>
    row.logprobs.map((value, t) => (row.mask[t] === 1 ? value : oldLogprobs[b]![t]!)),
  );
  const referenceLogprobs = (await reference?.forward({ rows, temperature }))?.logprobs;

  // 2. What each token is worth.
  let rewards: TokenValues = placed.map((row) => row.rewards);
  if (options.normaliseProcessRewards) rewards = normalisedRewards(placed);
  const taken: Metrics = {};
  if (klIn === 'reward' && referenceLogprobs) {
    const actions = placed.map((row) => row.mask);
    const penalised = penalisedRewards(rewards, oldLogprobs, referenceLogprobs, actions, options);
    rewards = penalised.rewards;
    taken.kl = penalised.kl;
  }
  const advantageMask = options.advantageMask ? placed.map((row) => row.mask) : wide;
  const advantages = estimateAdvantages(compared, placed, rewards, advantageMask, options);

  // 3. Which rows are learned from, so that the others do not dilute the averages.
  const groupOf = (b: number) => placed[b]!.trajectory.group;
  const differing = [...placed.keys()].filter((b) => advantages[b]!.some((advantage) => advantage !== 0));
  const worthwhile = new Set(differing.map(groupOf));
  const learned = [...placed.keys()].filter((b) => {
    if (options.truncated === 'mask' && placed[b]!.trajectory.outcome.kind === 'truncated') return false;
    return !drops || worthwhile.has(groupOf(b));
  });

  // 4. The loss and its gradient; each optimizer step after the first asks the policy what it says by now.
  const { maxTokens, maxCompletionLength = maxTokens } = options;
  const updates: Metrics[] = [];
  for (const part of miniBatchesOf(learned, options, stepSeed)) {
    const pick = <T>(values: readonly T[]) => part.map((b) => values[b]!);
    const batch = { rows: pick(rows), temperature };
    const outputs = updates.length > 0 ? await learner.forward(batch) : undefined;
    const loss = policyLoss(
      {
        logprobs: outputs?.logprobs ?? pick(oldLogprobs),
        oldLogprobs: pick(oldLogprobs),
        sampledLogprobs: pick(sampledLogprobs),
        referenceLogprobs: referenceLogprobs && pick(referenceLogprobs),
        entropy: needsEntropy ? (outputs?.entropy ?? pick(before!.entropy)) : undefined,
        mask: pick(mask),
        advantages: pick(advantages),
      },
      {
        ...options,
        maxLength: maxCompletionLength,
        beta: klIn === 'loss' ? beta : 0,
        mismatchCorrection: correction === 'none' ? undefined : correction,
      },
    );
    const gradients = { dLogprobs: loss.dLogprobs, dEntropy: loss.dEntropy };
    const { gradNorm } = await descend(batch, gradients, options);
    updates.push({ loss: loss.value, grad_norm: gradNorm, ...loss.metrics, ...taken });
  }
  if (updates.length === 0) return nothing;
  const { loss, grad_norm, ...metrics } = meanMetrics(updates);
  if (!recomputes && updates.length === 1) {
    // On-policy no ratio is beyond a bound.
    delete metrics['clip_ratio/low_mean'];
    delete metrics['clip_ratio/high_mean'];
    delete metrics['clip_ratio/region_mean'];
  }
  const tokens = epochs * learned.reduce((sum, b) => sum + placed[b]!.tokens.length, 0);
  return { loss: loss!, grad_norm: grad_norm!, learned_tokens: tokens, ...metrics };
}

/** One optimizer step; none where every gradient is 0, so that neither momentum nor decay moves the weights. */
async function descend(
  batch: Parameters<Run['learner']['backward']>[0],
  gradients: Parameters<Run['learner']['backward']>[1],
  { learner, learningRate, weightDecay, maxGradNorm, out }: Options,
): Promise<{ gradNorm: number }> {
  const all = [...gradients.dLogprobs, ...(gradients.dEntropy ?? [])];
  if (all.every((row) => row.every((gradient) => gradient === 0))) return { gradNorm: 0 };
  return optimizerStep(learner, batch, gradients, { learningRate, weightDecay, maxGradNorm, out });
}
