/**
 * `reinforce-v1`: REINFORCE with a baseline (Williams 1992), whole: play episodes, compare each with the mean of the batch, and
 * make what did better more likely.
 */
import { collect, createRng, deriveSeed, rollout } from '@toolenv/core';
import type { Run, TrainEvent, Trainer } from '@toolenv/core/plugins';
import { defineTrainer, resumeCheckpoint, saveCheckpoint, toTrainingRows } from '@toolenv/training';

export interface ReinforceOptions {
  steps: number;
  episodesPerStep: number;
  learningRate: number;
  temperature: number;
  maxTokens: number;
}

/** A trainer plugin: `toolenv train --trainer` makes flags of its options. */
const reinforce: Trainer<ReinforceOptions> = defineTrainer({
  name: 'reinforce',
  description: 'REINFORCE with the mean of the batch as baseline',
  options: {
    type: 'object',
    properties: {
      steps: { type: 'integer', minimum: 1, default: 100, description: 'updates' },
      episodesPerStep: {
        type: 'integer',
        minimum: 2,
        default: 64,
        description: 'episodes that an update learns from',
      },
      learningRate: { type: 'number', minimum: 0, default: 1e-4, description: 'of AdamW' },
      temperature: { type: 'number', minimum: 1e-3, default: 1, description: 'of sampling' },
      maxTokens: { type: 'integer', minimum: 1, default: 256, description: 'tokens of one turn at most' },
    },
    additionalProperties: false,
  },
  train,
});
export default reinforce;

async function* train(run: Run, given: Partial<ReinforceOptions>): AsyncGenerator<TrainEvent, void, void> {
  const options = { ...(given as ReinforceOptions), ...run };
  const { env, policy, learner, out, seed, signal, steps, temperature, maxTokens } = options;
  const resumed = options.resume ? await resumeCheckpoint(out, learner) : undefined;
  for (let step = (resumed?.step ?? 0) + 1; step <= steps; step++) {
    // Seeds come from the number of the step, so that a resumed run plays the same episodes again.
    const rng = createRng(seed, 'tasks', step);
    const episodes = Array.from({ length: options.episodesPerStep }, (_, group) => {
      const task = env.tasks.train.at(rng.int(env.tasks.train.length));
      return { task, group, sample: 0 };
    });
    const trajectories = await collect(
      rollout({
        env,
        policy,
        episodes,
        concurrency: episodes.length,
        sampling: { maxTokens, temperature },
        seed: deriveSeed(seed, 'step', step),
        signal,
      }),
    );
    // An episode that the machine broke off has no reward, and nothing is learned from it.
    const scored = trajectories.filter(({ reward }) => reward !== null);
    const rewards = scored.map(({ reward }) => reward!);
    const baseline = rewards.reduce((sum, reward) => sum + reward, 0) / Math.max(1, rewards.length);
    yield { type: 'rollout', step, metrics: { reward: baseline }, trajectories };
    signal?.throwIfAborted();

    // One row of tokens for each episode, or more where the environment rewrote the conversation. The mask is 1 on what the
    // policy wrote; what it read is no choice of its own.
    const rows = scored.flatMap(toTrainingRows);
    const written = rows.reduce((sum, { mask }) => sum + mask.reduce((ones, bit) => ones + bit, 0), 0);
    if (written > 0) {
      // The loss is −mean(advantage · log-probability); a learner wants its gradient by each log-probability.
      const dLogprobs = rows.map(({ mask, trajectory }) => {
        const advantage = trajectory.reward! - baseline;
        return Float32Array.from(mask, (bit) => (-bit * advantage) / written);
      });
      await learner.backward({ rows, temperature }, { dLogprobs });
      const { gradNorm } = await learner.step({ learningRate: options.learningRate, maxGradNorm: 1 });
      yield { type: 'update', step, metrics: { grad_norm: gradNorm } };
    }
    if (step === steps || step % 10 === 0) {
      yield { type: 'checkpoint', step, folder: await saveCheckpoint(out, learner, { step, seed }) };
    }
  }
}
