import {
  defineToolEnv,
  type Observation,
  openEnv,
  type SamplingOptions,
  scriptedPolicy,
  ToolEnvError,
  type Trajectory,
} from '@toolenv/core';
import { expect, test } from 'vitest';
import { LadderEnv, openLadder } from '../../../core/test/ladder-env.ts';
import { type EvaluateOptions, evaluate } from '../../src/index.ts';

const common = {
  split: 'validation',
  concurrency: 4,
  maxTokens: 8,
  seed: 1,
} as const;
/** Climbs two rungs and answers: right where the goal is 2. */
const policy = scriptedPolicy((_, turn) =>
  turn === 0 ? [{ name: 'climb', arguments: { rungs: 2 } }] : 'done',
);

test('reports means, counts and outcomes over the first tasks of a split', async () => {
  const seen: Trajectory[] = [];
  const { seconds, intervals, rewardInterval, tasks, ...summary } = await evaluate({
    ...common,
    env: openLadder(),
    policy,
    count: 4,
    onTrajectory: (trajectory) => void seen.push(trajectory),
  });
  expect(summary).toEqual({
    episodes: 4,
    aborted: 0,
    means: { right: 0.25, close: null, climbed: 1 },
    reward: (0.1 + 1.1 + 0.1 + 0.1) / 4,
    outcomes: { 'terminated:answered': 4 },
    toolCalls: 1,
    turns: 2,
    tokens: 0,
    samples: 1,
  });
  // The share .25 by Wilson; the reward ± 1.96 standard errors.
  expect(intervals).toEqual({
    right: [expect.closeTo(0.0456, 4), expect.closeTo(0.6994, 4)],
    close: null,
    climbed: [expect.closeTo(0.5101, 4), 1],
  });
  expect(rewardInterval).toEqual([expect.closeTo(0.35 - 0.49, 4), expect.closeTo(0.35 + 0.49, 4)]);
  expect(tasks.map(({ index, scores }) => [index, scores.right])).toEqual([
    [0, [0]],
    [1, [1]],
    [2, [0]],
    [3, [0]],
  ]);
  expect(seconds).toBeGreaterThan(0);
  expect(seen.map(({ task }) => task)).toEqual([{ goal: 1 }, { goal: 2 }, { goal: 3 }, { goal: 4 }]);
});

test('the interval of a process reward goes beyond the range of a step', async () => {
  let goal = 0;
  const climbing = scriptedPolicy((_, turn) => {
    if (turn === 0) goal += 1;
    return turn < goal ? [{ name: 'climb', arguments: { rungs: 1 } }] : 'done';
  });
  const env = openLadder();
  const { means, intervals } = await evaluate({ ...common, concurrency: 1, env, policy: climbing, count: 4 });
  expect(means.climbed).toBe(2.5);
  // 2.5 ± 1.96 √(5/3) / √4
  expect(intervals.climbed).toEqual([expect.closeTo(1.2348, 3), expect.closeTo(3.7652, 3)]);
});

test('counts aborted episodes, and leaves them out of the means', async () => {
  class Flaky extends LadderEnv {
    override reset(options: Parameters<LadderEnv['reset']>[0]): ReturnType<LadderEnv['reset']> {
      if (options.task.goal === 1) return Promise.reject(new ToolEnvError('infrastructure.server', 'down'));
      return super.reset(options);
    }
  }
  const env = openLadder(() => new Flaky());
  const some = await evaluate({ ...common, env, policy, count: 2 });
  expect(some).toMatchObject({ episodes: 2, aborted: 1, means: { right: 1 }, reward: 1.1, turns: 2 });
  const none = await evaluate({ ...common, env, policy, count: 1 });
  expect(none).toMatchObject({ episodes: 1, aborted: 1, means: { right: null }, reward: null, toolCalls: 0 });
});

test('counts episodes that nothing scored, and leaves them out of the means of rewards', async () => {
  const judged = defineToolEnv({
    name: 'judged-v1',
    description: 'A judge that knows every second answer.',
    tasks: { validation: [0, 1, 2, 3] },
    rewards: {
      right: { kind: 'outcome', score: ({ task }) => (task % 2 === 0 ? 0.5 : null) },
      length: { kind: 'outcome', weight: 0, score: () => 1 },
    },
    episode: () => ({ messages: 'Answer.' }),
  });
  const env = await openEnv(judged);
  const evaluation = await evaluate({
    ...common,
    env,
    policy: scriptedPolicy(() => 'x'),
    count: 4,
    samples: 2,
  });
  expect(evaluation).toMatchObject({
    episodes: 8,
    aborted: 0,
    unscored: 4,
    reward: 0.5,
    means: { right: 0.5, length: 1 },
    outcomes: { 'terminated:answered': 8 },
    turns: 1,
  });
  expect(evaluation.tasks.map(({ reward }) => reward)).toEqual([[0.5, 0.5], [], [0.5, 0.5], []]);
});

test('refuses a split without tasks; a count beyond its length means all tasks', async () => {
  const env = openLadder();
  await expect(evaluate({ ...common, env, policy, split: 'test' })).rejects.toMatchObject({
    code: 'usage.evaluate',
  });
  await expect(evaluate({ ...common, env, policy, count: 0 })).rejects.toMatchObject({
    code: 'usage.bad_option',
    message: 'evaluate: option "count": expected must be >= 1; received 0.',
  });
  expect((await evaluate({ ...common, env, policy, count: 99 })).episodes).toBe(10);
});

test('needs no more than an environment and a policy: the schema has every default', async () => {
  const env = openLadder();
  const long = { ...env, tasks: { ...env.tasks, test: { length: 1000, get: () => ({ goal: 2 }) } } };
  let [playing, most] = [0, 0];
  const seen: SamplingOptions[] = [];
  const counting = {
    ...policy,
    async act(observation: Observation, options: SamplingOptions) {
      most = Math.max(most, ++playing);
      seen.push(options);
      const action = await policy.act(observation, options);
      playing -= 1;
      return action;
    },
  };
  const { episodes, means } = await evaluate({ env: long, policy: counting });
  expect(episodes).toBe(200);
  expect(means.right).toBe(1);
  expect(most).toBe(128);
  expect(seen[0]).toMatchObject({ temperature: 0, topP: 1, minP: 0, maxTokens: 256, constrainCalls: false });
});

test('names a wrong option and a missing part, with the remedy', async () => {
  const env = openLadder();
  const call = (options: object) => evaluate(options as EvaluateOptions);
  await expect(call({ env, policy, tempereture: 1 })).rejects.toMatchObject({
    code: 'usage.unknown_option',
    message: 'evaluate has no option "tempereture". Did you mean "temperature"?',
  });
  await expect(call({ env, policy, topP: 2 })).rejects.toMatchObject({ code: 'usage.bad_option' });
  await expect(call({ policy })).rejects.toMatchObject({
    code: 'usage.run',
    message: expect.stringContaining('evaluate: needs env: open one with await openEnv('),
  });
  await expect(call({ env, policy: 'my-checkpoint' })).rejects.toMatchObject({
    code: 'usage.run',
    message: expect.stringContaining('policy is the text "my-checkpoint": open one with await loadPolicy('),
  });
});

test('does not play finished episodes again, and gives the same numbers', async () => {
  const seen: Trajectory[] = [];
  const options = { ...common, env: openLadder(), count: 3, samples: 2, temperature: 1 };
  const whole = await evaluate({ ...options, policy, onTrajectory: (each) => void seen.push(each) });
  // Two episodes of three are known; that of a crash, and those of a longer evaluation, do not count.
  const known = seen.slice(0, 4);
  const crash = { ...known[0]!, group: 2, sample: 1, outcome: { kind: 'aborted' } } as Trajectory;
  const beyond = [
    { ...known[0]!, group: 3 },
    { ...known[0]!, sample: 2 },
  ];
  const played: Trajectory[] = [];
  const { seconds: _, ...rest } = await evaluate({
    ...options,
    policy,
    finished: [...known, known[1]!, crash, ...beyond],
    onTrajectory: (each) => void played.push(each),
  });
  expect(played.map(({ group, sample, index }) => [group, sample, index])).toEqual([
    [2, 0, 4],
    [2, 1, 5],
  ]);
  const { seconds: __, ...expected } = whole;
  expect(rest).toEqual(expected);
  const mute = scriptedPolicy(() => {
    throw new Error('asked');
  });
  const again = await evaluate({ ...options, policy: mute, finished: seen });
  expect(again.means).toEqual(whole.means);
});

test('refuses a definition that is not open', async () => {
  const definition = { name: 'shut-v1', open: async () => openLadder() };
  await expect(evaluate({ ...common, env: definition as never, policy })).rejects.toThrow(
    /env is a definition, which is not open: open one with await openEnv/,
  );
});
