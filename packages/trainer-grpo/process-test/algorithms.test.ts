/** Every named algorithm learns; explicit options win; masks, sampling and several updates do what they say. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineToolEnv, type EnvHandle, openEnv, type Policy, ToolEnvError } from '@toolenv/core';
import type { Learner, TokenBatch } from '@toolenv/core/learner';
import { completeOptions, type TrainEvent } from '@toolenv/core/plugins';
import { type Algorithm, algorithms, type GrpoOptions, grpo } from '@toolenv/trainer-grpo';
import { metricNames, type RunOptions } from '@toolenv/training';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveAlgorithm } from '../src/algorithms.ts';
import { openBandit, openTwoPulls, Softmax } from '../test/bandit.ts';

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'algorithms-'));
});
afterEach(() => rm(out, { recursive: true }));

const best = 3;

interface Run {
  learner?: Softmax;
  policy?: Policy;
  env?: EnvHandle<unknown>;
  resume?: boolean;
  signal?: AbortSignal;
}

const complete = (options: Partial<GrpoOptions>) =>
  completeOptions(grpo.options, { ...options }, 'grpo') as unknown as GrpoOptions;

async function train(
  options: Partial<GrpoOptions & RunOptions>,
  { learner = new Softmax(), policy = learner, env, ...run }: Run = {},
) {
  const small = {
    steps: 1,
    tasksPerStep: 4,
    groupSize: 6,
    learningRate: 0.5,
    checkpointEvery: 0,
    maxTokens: 1,
  };
  const events: TrainEvent[] = [];
  if (!run.resume) await rm(join(out, 'checkpoints'), { recursive: true, force: true });
  const whole = { env: env ?? (await openBandit(best)), policy, learner, out, seed: 1, ...run };
  for await (const event of grpo.train(whole, { ...small, ...options })) {
    events.push(event);
  }
  const updates = events.flatMap((event) => (event.type === 'update' ? [event.metrics] : []));
  expect(updates.flatMap(Object.keys).filter((name) => !Object.hasOwn(metricNames, name))).toEqual([]);
  const rollouts = events.flatMap((event) => (event.type === 'rollout' ? [event] : []));
  return { learner, updates, rollouts };
}

/** Every Softmax plays two pulls. */
const twice = (learner: Softmax): Policy => ({
  spec: learner.spec,
  act: (observation, options) => learner.actTwice(observation, options),
});

test.each(Object.keys(algorithms) as Algorithm[])('%s learns which arm pays', async (algorithm) => {
  const { learner, rollouts } = await train({
    algorithm,
    steps: 15,
    groupSize: 8,
    tasksPerStep: 6,
    learningRate: 2,
  });
  expect(rollouts[0]!.metrics.reward).toBeLessThan(0.4);
  expect(learner.probabilities()[best]).toBeGreaterThan(0.8);
});

test.each(Object.keys(algorithms) as Algorithm[])(
  '%s learns it in several epochs of mini-batches',
  async (algorithm) => {
    const options = { algorithm, steps: 8, epochs: 2, miniBatches: 2, learningRate: 2 };
    const { learner } = await train(options);
    expect(learner.probabilities()[best]).toBeGreaterThan(0.6);
  },
);

test('an explicit option wins over the algorithm', () => {
  expect(resolveAlgorithm(complete({ algorithm: 'dapo' }))).toMatchObject({
    clip: [0.2, 0.28],
    zeroVariance: 'resample',
    beta: 0,
  });
  const options = complete({ algorithm: 'dapo', clip: [0.1, 0.1], zeroVariance: 'keep', beta: 0.5 });
  expect(resolveAlgorithm(options)).toMatchObject({ clip: [0.1, 0.1], zeroVariance: 'keep', beta: 0.5 });
});

test('refuses groups of one episode', async () => {
  await expect(train({ groupSize: 1 })).rejects.toMatchObject({
    code: 'usage.bad_option',
    message: expect.stringContaining('"groupSize": expected must be >= 2; received 1'),
  });
});

test('refuses credit by turn for advantages without turns', () => {
  const options = complete({ algorithm: 'reinforce++', credit: 'turn' });
  expect(() => resolveAlgorithm(options)).toThrow('turn is for the advantages grpo and rloo');
});

/** Counts optimizer steps, and keeps what was learned from. */
class Watched extends Softmax {
  steps = 0;
  learned: { batch: TokenBatch; gradients: Parameters<Learner['backward']>[1] }[] = [];

  override async backward(batch: TokenBatch, gradients: Parameters<Learner['backward']>[1]) {
    this.learned.push({ batch, gradients });
    return super.backward(batch, gradients);
  }

  override async step(options: Parameters<Learner['step']>[0]) {
    this.steps += 1;
    return super.step(options);
  }
}

test('takes epochs × miniBatches optimizer steps, each epoch over every row once', async () => {
  const learner = new Watched();
  const { updates } = await train(
    { epochs: 3, miniBatches: 4, zeroVariance: 'keep', tasksPerStep: 2, groupSize: 6 },
    { learner },
  );
  expect(learner.steps).toBe(12);
  expect(learner.learned.map(({ batch }) => batch.rows.length)).toEqual(new Array(12).fill(3));
  for (let epoch = 0; epoch < 3; epoch++) {
    const seen = learner.learned.slice(4 * epoch, 4 * epoch + 4).flatMap(({ batch }) => batch.rows);
    expect(new Set(seen).size).toBe(12);
  }
  // The policy moves between the updates: ratios leave 1, and some are clipped.
  expect(updates[0]!['clip_ratio/high_mean']).toBeGreaterThan(0);
});

test('a resumed run with several updates per rollout ends with the same bits', async () => {
  const options = { algorithm: 'dapo', steps: 8, epochs: 2, miniBatches: 2, checkpointEvery: 3 } as const;
  const whole = await train(options);
  await train({ ...options, steps: 5 });
  const resumed = await train(options, { resume: true });
  expect(resumed.rollouts[0]!.step).toBe(6);
  expect([...resumed.learner.logits]).toEqual([...whole.learner.logits]);
});

test('dynamic sampling replaces groups that scored the same, up to maxResamples times', async () => {
  const options = { algorithm: 'dapo', groupSize: 2, tasksPerStep: 6 } as const;
  const learner = new Watched();
  const { rollouts } = await train({ ...options, maxResamples: 30 }, { learner });
  const [{ metrics, trajectories }] = rollouts as [(typeof rollouts)[number]];
  expect(metrics.num_gen_batches).toBeGreaterThan(1);
  expect(trajectories.map(({ index }) => index)).toEqual([...trajectories.keys()]);
  expect(new Set(trajectories.map(({ group, sample }) => `${group} ${sample}`)).size).toBe(
    trajectories.length,
  );
  // Six groups of two that differ are learned from, however many were played.
  expect(trajectories.length).toBeGreaterThan(12);
  expect(learner.learned[0]!.batch.rows).toHaveLength(12);
});

test('dynamic sampling gives up if no episode ever pays, and no weight changes', async () => {
  const { learner, rollouts, updates } = await train(
    { algorithm: 'dapo', maxResamples: 2, tasksPerStep: 3, groupSize: 2 },
    { env: await openBandit(99) },
  );
  expect(rollouts[0]!.trajectories).toHaveLength(3 * 2 * 3);
  expect(updates[0]).toMatchObject({ loss: 0, grad_norm: 0, learned_tokens: 0 });
  expect([...learner.logits]).toEqual([0, 0, 0, 0, 0]);
});

test('zero-variance groups do not dilute the average, unless they are kept', async () => {
  const options = { tasksPerStep: 8, groupSize: 2 };
  const [dropped, kept] = [new Watched(), new Watched()];
  await train(options, { learner: dropped });
  await train({ ...options, zeroVariance: 'keep' }, { learner: kept });
  const rowsOf = ({ learned }: Watched) => learned[0]!.batch.rows.length;
  expect(rowsOf(kept)).toBe(16);
  expect(rowsOf(dropped)).toBeLessThan(16);
  const sizes = ({ learned }: Watched) =>
    learned[0]!.gradients.dLogprobs.map((row) => Math.abs(row[1]!)).filter((slope) => slope > 0);
  // The same rows pull, by 1/rows each.
  expect(sizes(dropped)).toHaveLength(sizes(kept).length);
  expect(sizes(dropped)[0]! / sizes(kept)[0]!).toBeCloseTo(16 / rowsOf(dropped), 4);
});

/** Of 16 groups of 8, two are half right; all other episodes fail. */
async function slopesOfTwoMixedGroups(options: Partial<GrpoOptions & RunOptions>): Promise<number[]> {
  const learner = new Watched();
  let played = 0;
  const policy: Policy = {
    spec: learner.spec,
    act: async (observation, sampling) => {
      const call = played++;
      const arm = call < 16 && call % 2 === 0 ? best : 0;
      return { ...(await learner.act(observation, sampling)), text: String(arm) };
    },
  };
  const given = { tasksPerStep: 16, groupSize: 8, beta: 0, ...options };
  await train({ ...given, loss: 'dr_grpo', maxCompletionLength: 1 }, { learner, policy });
  return learner.learned[0]!.gradients.dLogprobs.map((row) => row[1]!);
}

test('scaleRewards batch divides by the deviation of all groups, also of those that are dropped', async () => {
  const slopes = await slopesOfTwoMixedGroups({ scaleRewards: 'batch' });
  expect(slopes).toHaveLength(16);
  // The deviation of 8 ones and 120 zeros is 0.2430: TRL's advantage is 2.057, where that of the two groups alone would be 0.968.
  for (const slope of slopes) expect(128 * Math.abs(slope)).toBeCloseTo(2.0574, 3);
  const kept = await slopesOfTwoMixedGroups({ scaleRewards: 'batch', zeroVariance: 'keep' });
  expect(kept.filter((slope) => slope !== 0)).toEqual(slopes);
});

test.each(['reinforce++', 'reinforce++-baseline'] as const)(
  '%s whitens over all groups, also over those that are dropped',
  async (algorithm) => {
    const dropped = await slopesOfTwoMixedGroups({ algorithm, zeroVariance: 'drop' });
    const kept = await slopesOfTwoMixedGroups({ algorithm, zeroVariance: 'keep' });
    expect([dropped.length, kept.length]).toEqual([16, 128]);
    expect(dropped).toEqual(kept.slice(0, 16));
  },
);

test('dr_grpo divides by a true constant: groups that are left out do not change it', async () => {
  const slopesOf = async (zeroVariance: 'drop' | 'keep', miniBatches = 1) => {
    const learner = new Watched();
    const options = {
      algorithm: 'dr_grpo',
      tasksPerStep: 8,
      groupSize: 2,
      zeroVariance,
      miniBatches,
    } as const;
    await train({ ...options, maxCompletionLength: 5 }, { learner });
    const slopes = learner.learned.flatMap(({ gradients }) =>
      gradients.dLogprobs.map((row) => Math.abs(row[1]!)),
    );
    return { rows: slopes.length, pulling: slopes.filter((slope) => slope > 0) };
  };
  const [dropped, kept] = [await slopesOf('drop'), await slopesOf('keep')];
  expect(dropped.rows).toBeLessThan(kept.rows);
  // Scores of 0 and 1 differ from their mean by ½, which is divided by 16 episodes of 5 tokens.
  expect(dropped.pulling[0]).toBeCloseTo(0.5 / (16 * 5), 8);
  expect(kept.pulling).toEqual(dropped.pulling);
  const [inTwo] = (await slopesOf('keep', 2)).pulling;
  expect(inTwo).toBeCloseTo(0.5 / (8 * 5), 8);
});

test('dr_grpo divides by the tokens of all turns, unless maxCompletionLength says otherwise', async () => {
  const slopeOf = async (options: { maxCompletionLength?: number }) => {
    const learner = new Watched();
    const given = { algorithm: 'dr_grpo', tasksPerStep: 4, groupSize: 6, maxTokens: 5 } as const;
    const env = await openTwoPulls(best);
    await train({ ...given, ...options }, { learner, policy: twice(learner), env });
    return Math.abs(learner.learned[0]!.gradients.dLogprobs[0]![1]!);
  };
  // Two turns of 5 tokens.
  expect(await slopeOf({})).toBeGreaterThan(0);
  expect(await slopeOf({})).toBeCloseTo(await slopeOf({ maxCompletionLength: 10 }), 10);
});

test.each(['grpo', 'dr_grpo', 'rloo', 'reinforce++-baseline'] as const)(
  '%s learns nothing from the one episode of a group that was not aborted',
  async (algorithm) => {
    const learner = new Watched();
    // Of each group of two, the second fails, and fails again.
    let played = 0;
    const failing: Policy = {
      spec: learner.spec,
      act: async (observation, options) => {
        const call = played++;
        if (call % 2 === 1 || call >= 8)
          throw new ToolEnvError('infrastructure.test', 'The machine is away.');
        return { ...(await learner.act(observation, options)), text: String(best) };
      },
    };
    const options = { algorithm, beta: 0, groupSize: 2, maxAborted: 1, zeroVariance: 'keep' } as const;
    const { rollouts } = await train(options, { learner, policy: failing });
    expect(rollouts[0]!.metrics).toMatchObject({ episodes: 8, aborted: 4, reward: 1 });
    expect([...learner.logits]).toEqual([0, 0, 0, 0, 0]);
  },
);

test.each(['grpo', 'dr_grpo', 'rloo', 'reinforce++-baseline'] as const)(
  '%s learns nothing from episodes that nothing scored, and the metrics count them',
  async (algorithm) => {
    let played = 0;
    const judged = defineToolEnv({
      name: 'judged-v1',
      description: 'A judge that knows every second answer.',
      tasks: { train: { length: 40, get: () => null } },
      rewards: { right: { kind: 'outcome', score: () => (played++ % 2 === 0 ? 1 : null) } },
      episode: () => ({ messages: 'Pull an arm.', onAnswer: () => ({ end: 'pulled' }) }),
    });
    const options = { algorithm, beta: 0, groupSize: 2, zeroVariance: 'keep' } as const;
    const { learner, rollouts } = await train(options, { env: await openEnv(judged) });
    expect(rollouts[0]!.metrics).toMatchObject({ episodes: 8, aborted: 0, unscored: 4, reward: 1 });
    expect([...learner.logits]).toEqual([0, 0, 0, 0, 0]);
  },
);

/** Every turn runs out of tokens. */
const cutShort = (learner: Softmax): Policy => ({
  spec: learner.spec,
  act: async (...request) => ({ ...(await learner.act(...request)), stopReason: 'length' }),
});

test('with masked truncated episodes, a fully masked batch has loss 0 and changes no weight', async () => {
  const learner = new Softmax();
  const options = { truncated: 'mask', zeroVariance: 'keep', beta: 0.5, entropyCoefficient: 0.1 } as const;
  const { updates } = await train(options, { learner, policy: cutShort(learner) });
  expect(updates[0]).toMatchObject({ loss: 0, grad_norm: 0 });
  expect([...learner.logits]).toEqual([0, 0, 0, 0, 0]);
});

test('vespo with a correction per sequence is refused before anything is played', async () => {
  const options = { algorithm: 'vespo', mismatchCorrection: 'sequence_mask' } as const;
  await expect(train(options)).rejects.toMatchObject({
    code: 'usage.bad_option',
    message: expect.stringMatching('^grpo: option "mismatchCorrection": the loss vespo '),
  });
});

test('the entropy bonus keeps the policy undecided', async () => {
  const [sure, undecided] = [await train({ steps: 40 }), await train({ steps: 40, entropyCoefficient: 1 })];
  expect(undecided.updates.at(-1)!.entropy).toBeGreaterThan(1);
  expect(undecided.learner.probabilities()[best]).toBeLessThan(sure.learner.probabilities()[best]! - 0.2);
});

test('the KL in the reward restrains the policy as the KL in the loss does', async () => {
  const free = await train({ steps: 40 });
  const held = await train({ steps: 40, beta: 1, klIn: 'reward', klEstimator: 'k1', scaleRewards: 'none' });
  expect(held.learner.probabilities()[best]).toBeGreaterThan(0.25);
  expect(held.learner.probabilities()[best]).toBeLessThan(free.learner.probabilities()[best]! - 0.1);
  expect(held.updates[0]!.kl).toBeCloseTo(0, 6);
  expect(held.updates.at(-1)!.kl).toBeGreaterThan(0.01);
});

test('corrects for a sampler with half the probabilities, up to the cap', async () => {
  const halving = (learner: Softmax): Policy => ({
    spec: learner.spec,
    act: async (...request) => {
      const action = await learner.act(...request);
      const logprobs = action.tokens!.logprobs.map((value) => value - Math.log(2));
      return { ...action, tokens: { ...action.tokens!, logprobs } };
    },
  });
  const norms: number[] = [];
  for (const [mismatchCorrection, mismatchCap] of [
    ['token_truncate', 3],
    ['token_truncate', 1.5],
    ['sequence_mask', 1.5],
  ] as const) {
    const learner = new Watched();
    const options = { mismatchCorrection, mismatchCap };
    const { updates } = await train(options, { learner, policy: halving(learner) });
    norms.push(updates[0]!.grad_norm!);
    // Where nothing is left to learn from there is no optimizer step, which momentum would make one.
    expect(learner.steps).toBe(mismatchCorrection === 'sequence_mask' ? 0 : 1);
    if (mismatchCorrection === 'token_truncate') {
      expect(updates[0]!['sampling/importance_sampling_ratio/mean']).toBeCloseTo(Math.min(2, mismatchCap), 5);
    }
  }
  const exact = (await train({})).updates[0]!.grad_norm!;
  expect(norms[0]! / exact).toBeCloseTo(2, 4);
  expect(norms[1]! / exact).toBeCloseTo(1.5, 4);
  expect(norms[2]!).toBe(0);
});

test('without the action mask, the tool’s token is learned with the advantage of its episode', async () => {
  const watch = async (options: Partial<GrpoOptions>) => {
    const learner = new Watched();
    const env = await openTwoPulls(best);
    await train({ credit: 'episode', ...options }, { learner, policy: twice(learner), env });
    return learner.learned[0]!;
  };
  const masked = await watch({});
  const learned = await watch({ actionMask: false });
  const everything = await watch({ actionMask: false, advantageMask: false });
  const unchanged = await watch({ advantageMask: false });

  // Prompt, pull, the tool's answer, pull.
  expect(masked.batch.rows.every(({ mask }) => mask.join('') === '0101')).toBe(true);
  expect(learned.batch.rows.every(({ mask }) => mask.join('') === '0111')).toBe(true);
  for (const [b, row] of masked.gradients.dLogprobs.entries()) {
    const [one, two, both] = [learned, everything, unchanged].map(({ gradients }) => gradients.dLogprobs[b]!);
    for (const t of [1, 2, 3]) expect(one![t]).toBeCloseTo((2 / 3) * row[1]!, 6);
    // GRPO's advantage is one number for an episode: the advantage mask changes nothing.
    expect([...two!]).toEqual([...one!]);
    expect([...both!]).toEqual([...row]);
  }
});

test('without the advantage mask, the tool’s token discounts returns', async () => {
  const advantagesOf = async (options: Partial<GrpoOptions>) => {
    const learner = new Watched();
    const whole = { algorithm: 'reinforce++', gamma: 0.5, beta: 0, tasksPerStep: 2, ...options } as const;
    const { rollouts } = await train(whole, {
      learner,
      policy: twice(learner),
      env: await openTwoPulls(best),
    });
    const rewards = rollouts[0]!.trajectories.map(({ steps }) => [
      steps[0]!.rewards!.first!,
      steps[1]!.rewards!.second!,
    ]);
    const { dLogprobs } = learner.learned[0]!.gradients;
    // The average is over the 24 pulls.
    return { rewards, advantages: dLogprobs.map((row) => [-24 * row[1]!, -24 * row[3]!]) };
  };
  const whiten = (values: number[], over: number[]) => {
    const mean = over.reduce((sum, value) => sum + value, 0) / over.length;
    const variance = over.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (over.length - 1);
    return values.map((value) => (value - mean) / Math.sqrt(variance));
  };
  const { rewards, advantages } = await advantagesOf({});
  const skipped = rewards.map(([first, second]) => [first! + 0.5 * second!, second!]);
  const expected = skipped.map((row) => whiten(row, skipped.flat()));
  const unmasked = await advantagesOf({ advantageMask: false });
  const through = rewards.map(([first, second]) => [first! + 0.25 * second!, 0.5 * second!, second!]);
  const changed = through.map((row) => whiten(row, through.flat()));
  for (const b of rewards.keys()) {
    expect(advantages[b]![0]).toBeCloseTo(expected[b]![0]!, 4);
    expect(advantages[b]![1]).toBeCloseTo(expected[b]![1]!, 4);
    expect(unmasked.advantages[b]![0]).toBeCloseTo(changed[b]![0]!, 4);
    expect(unmasked.advantages[b]![1]).toBeCloseTo(changed[b]![2]!, 4);
  }
});

test.each(['grpo', 'sapo', 'luspo'] as const)(
  'with the loss %s, an episode in two rows pulls no harder than an episode in one',
  async (loss) => {
    const learner = new Watched();
    // After an even arm the second prompt does not go on from the first.
    const forking: Policy = {
      spec: learner.spec,
      act: async (observation, options) => {
        const action = await learner.actTwice(observation, options);
        const { prompt } = action.tokens!;
        if (prompt.length === 1 || prompt[1]! % 2 === 1) return action;
        return { ...action, tokens: { ...action.tokens!, prompt: Int32Array.of(prompt[0]!, 0) } };
      },
    };
    const { rollouts } = await train(
      { loss, scaleRewards: 'none', zeroVariance: 'keep', tasksPerStep: 1, groupSize: 12, miniBatches: 2 },
      { learner, policy: forking, env: await openTwoPulls(best) },
    );
    const { trajectories } = rollouts[0]!;
    const mean = trajectories.reduce((sum, { reward }) => sum + reward! / 12, 0);
    // The mean over six episodes of the mean, or for luspo of the sum, over two pulls.
    const weight = loss === 'luspo' ? 1 / 6 : 1 / 12;
    const expected = trajectories.flatMap(({ reward }) => new Array(2).fill((reward! - mean) * weight));
    // Ratios leave 1 after the first optimizer step: only the first is exact.
    const [first, second] = learner.learned.map(({ batch, gradients }) =>
      batch.rows.flatMap(({ mask }, b) => {
        const slopes = gradients.dLogprobs[b]!;
        return [...mask.keys()].filter((t) => mask[t] === 1).map((t) => -slopes[t]!);
      }),
    );
    expect(first).toHaveLength(12);
    expect(second).toHaveLength(12);
    expect(learner.learned[0]!.batch.rows.length).toBeGreaterThan(6);
    for (const slope of first!) {
      expect(Math.min(...expected.map((value) => Math.abs(value - slope)))).toBeLessThan(1e-6);
    }
  },
);

test('credit by turn gives each pull its own return, and the policy learns both', async () => {
  const learner = new Watched();
  const env = await openTwoPulls(best);
  const { rollouts } = await train(
    { credit: 'turn', scaleRewards: 'none', tasksPerStep: 1, groupSize: 6, zeroVariance: 'keep' },
    { learner, policy: twice(learner), env },
  );
  const played = rollouts[0]!.trajectories.map(({ steps }) =>
    steps.map(({ rewards }) => (rewards!.first ?? 0) + (rewards!.second ?? 0)),
  );
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const whole = mean(played.map(([first, second]) => first! + second!));
  const last = mean(played.map(([, second]) => second!));
  for (const [b, [first, second]] of played.entries()) {
    const [, atFirst, , atSecond] = learner.learned[0]!.gradients.dLogprobs[b]!;
    expect(atFirst).toBeCloseTo(-(first! + second! - whole) / 12, 6);
    expect(atSecond).toBeCloseTo(-(second! - last) / 12, 6);
  }
  const long = new Softmax();
  await train({ credit: 'turn', steps: 40 }, { learner: long, policy: twice(long), env });
  expect(long.probabilities()[best]).toBeGreaterThan(0.9);
});

test.each([{ overlongBuffer: 4, maxCompletionLength: 5 }, { lengthPenalty: 1 }])(
  'a reward for length teaches to write less, where nothing else differs: %o',
  async (options) => {
    const learner = new Softmax();
    // The arm k is written with k + 1 tokens, and no arm pays.
    const wordy: Policy = {
      spec: learner.spec,
      act: async (observation, sampling) => {
        const action = await learner.act(observation, sampling);
        const { prompt, action: written, logprobs } = action.tokens!;
        const length = written[0]! + 1;
        const tokens = {
          prompt,
          action: new Int32Array(length).fill(written[0]!),
          logprobs: new Float32Array(length).fill(logprobs[0]!),
        };
        return { ...action, tokens };
      },
    };
    const env = await openBandit(99);
    const { updates } = await train({ ...options, steps: 40, maxTokens: 5 }, { learner, policy: wordy, env });
    const [shortest, second] = learner.probabilities();
    expect(shortest! + second!).toBeGreaterThan(0.8);
    expect(updates[0]!.length_reward).toBeLessThan(0);
  },
);
