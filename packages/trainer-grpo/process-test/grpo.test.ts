/** The whole algorithm on a bandit, where what it should do is known. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Policy, ToolEnvError } from '@toolenv/core';
import type { Run, TrainEvent } from '@toolenv/core/plugins';
import { type GrpoOptions, grpo } from '@toolenv/trainer-grpo';
import type { RunOptions } from '@toolenv/training';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openBandit, openGradedBandit, Softmax } from '../test/bandit.ts';

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'grpo-'));
});
afterEach(() => rm(out, { recursive: true }));

const best = 3;

async function train(
  softmax: Softmax,
  options: Partial<GrpoOptions & RunOptions> &
    Partial<Pick<Run, 'env' | 'policy' | 'seed' | 'resume' | 'signal'>> = {},
  onEvent: (event: TrainEvent) => void = () => {},
): Promise<TrainEvent[]> {
  const { env = await openBandit(best), policy = softmax, seed = 1, resume, signal, ...rest } = options;
  const own = { steps: 60, tasksPerStep: 8, groupSize: 8, learningRate: 0.5, ...rest };
  const run = { env, policy, learner: softmax, out, seed, resume, signal };
  const events: TrainEvent[] = [];
  for await (const event of grpo.train(run, own)) {
    events.push(event);
    onEvent(event);
  }
  return events;
}

/** How many rows each batch of a run has that is learned from. */
async function batchesOf(softmax: Softmax, options: Parameters<typeof train>[1]): Promise<number[]> {
  const sizes: number[] = [];
  const backward = softmax.backward.bind(softmax);
  softmax.backward = (batch, gradients) => {
    sizes.push(batch.rows.length);
    return backward(batch, gradients);
  };
  await train(softmax, options);
  return sizes;
}

test('learns which arm pays', async () => {
  const softmax = new Softmax();
  const events = await train(softmax);
  expect(softmax.probabilities()[best]).toBeGreaterThan(0.95);
  const rewards = events.flatMap((event) => (event.type === 'rollout' ? [event.metrics.reward!] : []));
  expect(rewards[0]).toBeCloseTo(1 / 5, 1);
  expect(rewards.at(-1)).toBeGreaterThan(0.9);
});

test('learns nothing from shuffled rewards', async () => {
  const softmax = new Softmax();
  await train(softmax, { shuffleRewards: true });
  expect(softmax.probabilities()[best]).toBeLessThan(0.5);
});

test('a penalty keeps the policy near the initial policy', async () => {
  const [free, held] = [new Softmax(), new Softmax()];
  await train(free, { checkpointEvery: 0 });
  await rm(join(out, 'checkpoints'), { recursive: true });
  const events = await train(held, { beta: 1, checkpointEvery: 0 });
  expect(held.probabilities()[best]).toBeGreaterThan(0.25);
  expect(held.probabilities()[best]).toBeLessThan(free.probabilities()[best]! - 0.1);
  const kl = events.flatMap((event) => (event.type === 'update' ? [event.metrics.kl!] : []));
  expect(kl[0]).toBe(0);
  expect(kl.at(-1)).toBeGreaterThan(0.01);
});

test('the first update equals a policy gradient computed by hand', async () => {
  const softmax = new Softmax();
  const events = await train(softmax, { steps: 1, tasksPerStep: 1, groupSize: 4 });
  const [rollout] = events.filter((event) => event.type === 'rollout');
  const played = rollout!.trajectories.map(({ steps, reward }) => ({
    arm: Number(steps[0]!.action.text),
    reward: reward!,
  }));
  const mean = played.reduce((sum, { reward }) => sum + reward, 0) / 4;
  const deviation = Math.sqrt(played.reduce((sum, { reward }) => sum + (reward - mean) ** 2, 0) / 3);
  expect(deviation).toBeGreaterThan(0);
  const expected = Array.from({ length: 5 }, (_, arm) =>
    played.reduce((sum, one) => {
      const advantage = (one.reward - mean) / (deviation + 1e-6);
      return sum + (0.5 / 4) * advantage * (Number(one.arm === arm) - 1 / 5);
    }, 0),
  );
  for (const [arm, logit] of softmax.logits.entries()) expect(logit).toBeCloseTo(expected[arm]!, 4);
});

/** A server that samples with half of the learner's probabilities. */
const halvingServer = (softmax: Softmax): Policy => ({
  spec: { ...softmax.spec, usesSeparateSampler: true },
  act: async (...request) => {
    const action = await softmax.act(...request);
    const logprobs = action.tokens!.logprobs.map((value) => value - Math.log(2));
    return { ...action, tokens: { ...action.tokens!, logprobs } };
  },
});

test('where a server samples, tokens are weighed by learner over sampler, and the gap is measured in any case', async () => {
  const updateOf = async (options: Partial<GrpoOptions>) => {
    const softmax = new Softmax();
    // A learner whose backward pass returns nothing.
    const backward = softmax.backward.bind(softmax);
    softmax.backward = async (...given) => void (await backward(...given)) as never;
    const policy = halvingServer(softmax);
    const events = await train(softmax, { ...options, policy, steps: 1, checkpointEvery: 0 });
    return events.flatMap((event) => (event.type === 'update' ? [event.metrics] : []))[0]!;
  };
  const [corrected, plain] = [await updateOf({}), await updateOf({ mismatchCorrection: 'none' })];
  expect(corrected.grad_norm! / plain.grad_norm!).toBeCloseTo(2, 4);
  expect(corrected['sampling/importance_sampling_ratio/mean']).toBeCloseTo(2, 4);
  expect(plain).not.toHaveProperty(['sampling/importance_sampling_ratio/mean']);
  for (const metrics of [corrected, plain])
    expect(metrics['sampling/sampling_logp_difference/mean']).toBeCloseTo(Math.log(2), 5);
});

test('an update says what each token was worth', async () => {
  const events = await train(new Softmax(), { steps: 1, tasksPerStep: 2, groupSize: 4 });
  const [rollout] = events.filter((event) => event.type === 'rollout');
  const [update] = events.filter((event) => event.type === 'update');
  const reported = new Map(update!.tokens!.map(({ episodeId, turns }) => [episodeId, turns[0]!.advantages]));
  for (const group of [0, 1]) {
    const episodes = rollout!.trajectories.filter((episode) => episode.group === group);
    const rewards = episodes.map(({ reward }) => reward!);
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / 4;
    const deviation = Math.sqrt(rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / 3);
    for (const { episodeId, reward } of episodes) {
      // A group whose episodes all scored the same is not learned from, and has no advantages.
      if (deviation === 0) expect(reported.get(episodeId)).toBeUndefined();
      else expect(reported.get(episodeId)![0]).toBeCloseTo((reward! - mean) / (deviation + 1e-6), 3);
    }
  }
  expect(reported.size).toBeGreaterThan(0);
});

test('a run that is stopped and resumed ends with the same bits', async () => {
  const whole = new Softmax();
  await train(whole, { steps: 20, checkpointEvery: 4 });
  await rm(join(out, 'checkpoints'), { recursive: true });

  const stop = new AbortController();
  const interrupted = train(
    new Softmax(),
    { steps: 20, checkpointEvery: 4, signal: stop.signal },
    (event) => {
      if (event.type === 'update' && event.step === 10) stop.abort(new Error('enough'));
    },
  );
  await expect(interrupted).rejects.toThrow('enough');
  // Interrupted between two checkpoints, it keeps every finished step.
  expect(await readdir(join(out, 'checkpoints'))).toContain('step-10');

  const resumed = new Softmax();
  const events = await train(resumed, { steps: 20, checkpointEvery: 4, resume: true });
  expect(events[0]).toMatchObject({ type: 'rollout', step: 11 });
  expect([...resumed.logits]).toEqual([...whole.logits]);
});

test('an episode with the mean score of a varied group counts in the averages', async () => {
  const softmax = new Softmax();
  const act = softmax.act.bind(softmax);
  const pulled = ['0', '2', '4'];
  softmax.act = async (...given) => ({ ...(await act(...given)), text: pulled.pop()! });
  const env = await openGradedBandit();
  const [rows] = await batchesOf(softmax, { env, steps: 1, tasksPerStep: 1, groupSize: 3 });
  expect(rows).toBe(3);
});

test('an error within a step is thrown and no half step is saved, even if the run is stopped at the same time', async () => {
  const softmax = new Softmax();
  const [stop, step] = [new AbortController(), softmax.step.bind(softmax)];
  let steps = 0;
  softmax.step = async (given) => {
    steps += 1;
    if (steps < 4) return step(given);
    stop.abort(new Error('stopped'));
    throw new ToolEnvError('bug.gradient_not_finite', 'The gradient norm is NaN.');
  };
  const options = {
    steps: 4,
    miniBatches: 2,
    zeroVariance: 'keep',
    checkpointEvery: 0,
    signal: stop.signal,
  } as const;
  await expect(train(softmax, options)).rejects.toThrow('The gradient norm is NaN.');
  expect(await readdir(out)).toEqual(['not-finite-batch.json']);
});

test('an interrupted evaluation is repeated when the run resumes', async () => {
  const options = { steps: 4, evaluateEvery: 2, evaluationEpisodes: 4, checkpointEvery: 0 };
  const kinds = (events: TrainEvent[]) => events.map(({ type, step }) => `${type} ${step}`);
  const [stop, softmax] = [new AbortController(), new Softmax()];
  const act = softmax.act.bind(softmax);
  softmax.act = (observation, sampling) => {
    if (sampling.temperature === 0) stop.abort(new Error('stopped'));
    return act(observation, sampling);
  };
  const before: TrainEvent[] = [];
  const interrupted = train(softmax, { ...options, signal: stop.signal }, (event) => before.push(event));
  await expect(interrupted).rejects.toThrow('stopped');
  expect(kinds(before).slice(-2)).toEqual(['update 2', 'checkpoint 2']);
  const after = await train(new Softmax(), { ...options, resume: true });
  expect(kinds(after).slice(0, 2)).toEqual(['evaluation 2', 'rollout 3']);
});

test('keeps the newest checkpoints only', async () => {
  await train(new Softmax(), { steps: 10, checkpointEvery: 2 });
  expect((await readdir(join(out, 'checkpoints'))).sort()).toEqual(['step-10', 'step-6', 'step-8']);
});
