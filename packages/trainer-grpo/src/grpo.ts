/** GRPO: sample groups of episodes, compare each with its group, follow the clipped policy gradient. The whole algorithm. */
import {
  collect,
  createRng,
  defineTrainer,
  deriveSeed,
  type EpisodeRequest,
  evaluate,
  type Metrics,
  type OpenEnv,
  type Run,
  resumeCheckpoint,
  rollout,
  saveCheckpoint,
  type TaskSet,
  type TrainEvent,
  type Trainer,
  type Trajectory,
  toTrainingRows,
} from '@toolenv/core';
import { clippedLoss } from './clipped-loss.ts';
import { groupAdvantages } from './group-advantages.ts';
import { type GrpoOptions, grpoOptions } from './grpo-options.ts';
import { rolloutMetrics } from './rollout-metrics.ts';

export const grpo: Trainer<GrpoOptions> = defineTrainer({
  name: 'grpo',
  description: 'Group relative policy optimisation (arXiv 2402.03300)',
  options: grpoOptions,
  train,
});
export default grpo;

async function* train(options: GrpoOptions & Run): AsyncGenerator<TrainEvent, void, void> {
  const { env, policy, learner, out, seed, signal, steps, checkpointEvery, evaluateEvery } = options;
  const reference = options.beta > 0 ? await learner.reference() : undefined;
  const resumed = options.resume ? await resumeCheckpoint(out, learner) : undefined;
  let step = resumed?.step ?? 0;

  try {
    while (step < steps) {
      const episodes = drawGroups(env.tasks.train, options, step);
      const sampling = { maxTokens: options.maxTokens, temperature: options.temperature };
      const stepSeed = deriveSeed(seed, 'step', step);
      const started = performance.now();
      const trajectories = await collect(
        rollout({
          env,
          policy,
          episodes,
          concurrency: episodes.length,
          sampling,
          seed: stepSeed,
          deadline: options.deadline,
          signal,
        }),
      );
      const rolledOut = performance.now();
      const scored = shuffleIfControl(
        trajectories.filter(({ reward }) => reward !== null),
        options,
        stepSeed,
      );
      yield {
        type: 'rollout',
        step: step + 1,
        metrics: rolloutMetrics(trajectories, (rolledOut - started) / 1000),
        trajectories,
      };
      signal?.throwIfAborted();

      const metrics = await update(scored, reference, options);
      step += 1;
      yield {
        type: 'update',
        step,
        metrics: { ...metrics, 'time/update': (performance.now() - rolledOut) / 1000 },
      };
      if (evaluateEvery > 0 && step % evaluateEvery === 0) {
        yield { type: 'evaluation', step, metrics: await validation(env, options) };
      }
      if (step === steps || (checkpointEvery > 0 && step % checkpointEvery === 0)) {
        yield { type: 'checkpoint', step, folder: await saveCheckpoint(out, learner, { step, seed }) };
      }
    }
  } catch (error) {
    if (!signal?.aborted || step === 0) throw error;
    // An interrupted run keeps every finished step.
    yield { type: 'checkpoint', step, folder: await saveCheckpoint(out, learner, { step, seed }) };
    throw signal.reason;
  }
}

/** The step's tasks, `groupSize` episodes of each. Every task comes once before any comes again. */
function drawGroups<Task>(
  tasks: TaskSet<Task>,
  options: GrpoOptions & Run,
  step: number,
): EpisodeRequest<Task>[] {
  const { questionsPerStep, groupSize, seed } = options;
  const episodes: EpisodeRequest<Task>[] = [];
  let epoch = -1;
  let order: number[] = [];
  for (let group = 0; group < questionsPerStep; group++) {
    const drawn = step * questionsPerStep + group;
    if (Math.floor(drawn / tasks.length) !== epoch) {
      epoch = Math.floor(drawn / tasks.length);
      order = createRng(seed, 'tasks', epoch).shuffle([...Array(tasks.length).keys()]);
    }
    const task = tasks.at(order[drawn % tasks.length]!);
    for (let member = 0; member < groupSize; member++) episodes.push({ task, group, member });
  }
  return episodes;
}

/** One optimizer step from the trajectories of a rollout. */
async function update(
  trajectories: Trajectory[],
  reference: Awaited<ReturnType<Run['learner']['reference']>> | undefined,
  options: GrpoOptions & Run,
): Promise<Metrics> {
  const { learner, temperature, clip, beta, average, learningRate, weightDecay, maxGradNorm } = options;
  const advantageOf = new Map<Trajectory, number>();
  const advantages = groupAdvantages(
    trajectories.map(({ reward }) => reward!),
    trajectories.map(({ group }) => group),
  );
  for (const [index, trajectory] of trajectories.entries()) advantageOf.set(trajectory, advantages[index]!);

  // Where a whole group scored the same there is nothing to learn, unless the penalty pulls.
  const rows = trajectories
    .flatMap(toTrainingRows)
    .filter((row) => beta > 0 || advantageOf.get(row.trajectory) !== 0);
  if (rows.length === 0) return { loss: 0, grad_norm: 0, learned_tokens: 0 };
  const batch = { rows, temperature };
  const mask = rows.map((row) => row.mask);
  const oldLogprobs = rows.map((row) => row.logprobs);
  const loss = clippedLoss(
    {
      // One update per rollout is strictly on-policy: what was sampled is what the policy says now.
      logprobs: oldLogprobs,
      oldLogprobs,
      referenceLogprobs: (await reference?.forward(batch))?.logprobs,
      mask,
      advantages: rows.map(({ trajectory }) => advantageOf.get(trajectory)!),
    },
    { clip, beta, average },
  );
  await learner.backward(batch, { dLogprobs: loss.dLogprobs });
  const { gradNorm } = await learner.step({ learningRate, weightDecay, maxGradNorm });
  const learned = rows.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return { loss: loss.value, grad_norm: gradNorm, learned_tokens: learned, ...loss.metrics };
}

/** A control for the claim that the reward teaches: the same rewards, dealt out at random. */
function shuffleIfControl(trajectories: Trajectory[], options: GrpoOptions, seed: number): Trajectory[] {
  if (options.control !== 'shuffled-rewards') return trajectories;
  const rewards = createRng(seed, 'shuffled-rewards').shuffle(trajectories.map(({ reward }) => reward));
  return trajectories.map((trajectory, index) => ({ ...trajectory, reward: rewards[index]! }));
}

async function validation(env: OpenEnv<unknown>, options: GrpoOptions & Run): Promise<Metrics> {
  const { policy, seed, signal, evaluationEpisodes, maxTokens } = options;
  const count = Math.min(evaluationEpisodes, env.tasks.validation.length);
  const sampling = { maxTokens, temperature: 0 };
  const result = await evaluate({
    env,
    policy,
    split: 'validation',
    count,
    concurrency: count,
    sampling,
    seed,
    signal,
  });
  const means = Object.entries(result.means).filter((entry): entry is [string, number] => entry[1] !== null);
  return {
    reward: result.reward ?? 0,
    ...Object.fromEntries(means.map(([name, value]) => [`rewards/${name}/mean`, value])),
  };
}
