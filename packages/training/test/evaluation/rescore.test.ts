/** Recorded episodes are scored again by what reward functions see in a run, and only if they turn out as they were recorded. */
import {
  collect,
  defineToolEnv,
  type EpisodeRequest,
  type OpenEnvSettings,
  openEnv,
  type Policy,
  type RewardDeclarations,
  rollout,
  scriptedPolicy,
  type Trajectory,
} from '@toolenv/core';
import { decodeTrajectory, encodeTrajectory } from '@toolenv/core/recording';
import { describe, expect, test } from 'vitest';
import { type Rescored, RescoredScores, rescore } from '../../src/index.ts';

/** A counter, whose state only the hooks and the reward functions see. */
const counting = defineToolEnv({
  name: 'counting-v1',
  description: 'Count up to a number.',
  options: { properties: { by: { type: 'integer', default: 1 } } },
  limits: { maxTurns: 6 },
  tasks: { test: Array.from({ length: 40 }, (_, number) => ({ number, goal: 1 + (number % 5) })) },
  state: () => ({ count: 0 }),
  rewards: {
    reached: { kind: 'outcome', score: ({ state, task }) => Number(state.count === task.goal) },
    steady: { kind: 'process', weight: 0.1, score: ({ turn }) => turn / 10 },
  },
  episode: ({ state, task, options }) => ({
    messages: `Count to ${task.goal}.`,
    tools: [
      {
        name: 'count',
        description: 'Adds to the counter.',
        inputSchema: { type: 'object' },
        async execute() {
          state.count += options.by;
          return { content: [{ type: 'text', text: String(state.count) }] };
        },
      },
    ],
  }),
});

type Task = { number: number; goal: number };
const sampling = { maxTokens: 64, temperature: 1 };
/** Counts as often as it feels like, and answers. */
const policy: Policy = scriptedPolicy(({ messages }, turn) => {
  const wanted = messages[0]!.content.length + Number(messages[0]!.content.at(-2)) * 7;
  return turn < 1 + (wanted % 4) ? [{ name: 'count', arguments: {} }] : 'Done.';
});

async function recorded(
  { samples = 1, ...given }: { samples?: number } & OpenEnvSettings = {},
  player = policy,
): Promise<Trajectory<Task>[]> {
  await using env = await openEnv(counting, {}, given);
  const episodes = Array.from({ length: 40 * samples }, (_, index): EpisodeRequest<Task> => {
    const group = Math.floor(index / samples);
    return { task: env.tasks.test.get(group), group, sample: index % samples };
  });
  const played = await collect(rollout({ env, policy: player, episodes, concurrency: 8, sampling, seed: 3 }));
  // As a file holds them.
  return played.map((each) => decodeTrajectory(encodeTrajectory(each)) as Trajectory<Task>);
}

async function rescored(
  trajectories: readonly Trajectory<Task>[],
  rewards: OpenEnvSettings['rewards'] = (declared) => declared,
  options: { by?: number } = {},
): Promise<Rescored<Task>[]> {
  await using env = await openEnv(counting, options, { rewards });
  const all: Rescored<Task>[] = [];
  for await (const each of rescore({ env, trajectories })) all.push(each);
  return all;
}

const withBrief = (declared: RewardDeclarations): RewardDeclarations => ({
  ...declared,
  brief: { kind: 'outcome', score: ({ state }) => 1 / state.count },
});

test('1,000 episodes under unchanged rewards are what they were, byte by byte', async () => {
  const before = await recorded({ samples: 25 });
  expect(before).toHaveLength(1000);
  expect(new Set(before.map(({ reward }) => reward)).size).toBeGreaterThan(3);
  const after = await rescored(before);
  expect(after.map((each) => encodeTrajectory(each.rescored))).toEqual(before.map(encodeTrajectory));
});

test('a reward function sees the state of the episode', async () => {
  const before = await recorded();
  for (const { recorded: was, rescored: now } of await rescored(before, withBrief)) {
    const counts = was.steps.length - 1;
    expect(now.rewards).toEqual({ ...was.rewards, brief: 1 / counts });
    expect(now.reward).toBeCloseTo(was.reward! + 1 / counts, 12);
    expect(now.rewardSpec.brief).toEqual({ kind: 'outcome', weight: 1, range: [0, 1] });
    expect(now.steps.at(-1)!.rewards).toMatchObject({ brief: 1 / counts });
    expect({ ...now, steps: [], rewards: 0, reward: 0, rewardSpec: 0 }).toEqual({
      ...was,
      ...{ steps: [], rewards: 0, reward: 0, rewardSpec: 0 },
    });
  }
});

test('episodes of one name, as two steps of a run may have them, are scored apart', async () => {
  const [first, second] = [await recorded(), await recorded({}, scriptedPolicy(['Done.']))];
  const after = await rescored([...first, ...second]);
  expect(after.map((each) => each.rescored.rewards)).toEqual(
    [...first, ...second].map(({ rewards }) => rewards),
  );
});

test('an aborted episode has no rewards, and one that the loop cut ends as it did', async () => {
  const [one, other] = await recorded();
  const cause = Object.assign(new Error('The server is gone.'), { code: 'infrastructure.gone' });
  const aborted = { ...one!, outcome: { kind: 'aborted', cause, retryable: true } } as never as typeof one;
  const steps = other!.steps.slice(0, 1);
  const cut = { ...other!, steps, outcome: { kind: 'truncated', reason: 'deadline' } } as typeof one;
  const [first, second] = await rescored([aborted!, cut!], withBrief);
  expect(first!.rescored).toMatchObject({
    rewards: { reached: null, steady: null, brief: null },
    reward: null,
  });
  expect(first!.rescored.steps.every((step) => step.rewards === undefined)).toBe(true);
  expect(second!.rescored.outcome).toEqual({ kind: 'truncated', reason: 'deadline' });
  expect(second!.rescored.rewards).toMatchObject({ reached: 0, brief: 0 });
});

describe('an episode that turns out otherwise is refused, with the place and both values', () => {
  test.each([
    ['with other options', { by: 2 }, /before turn 2: \n {2}\/messages\/2\/content: recorded "1", now "2"/],
  ])('%s', async (_, options, message) => {
    await expect(rescored(await recorded(), undefined, options)).rejects.toMatchObject({
      code: 'usage.other_episode',
      message: expect.stringMatching(message),
    });
  });

  test('whose environment goes on', async () => {
    const [one] = await recorded();
    const shorter = { ...one!, steps: one!.steps.slice(0, 1) };
    await expect(rescored([shorter])).rejects.toThrow(
      `Episode ${one!.episodeId} turns out otherwise when it is played again, after its last turn`,
    );
  });

  test('whose end is another', async () => {
    const [one] = await recorded();
    const other = { ...one!, outcome: { kind: 'terminated', reason: 'gave up' } as const };
    await expect(rescored([other])).rejects.toThrow(
      /at its end: \n {2}\/reason: recorded "gave up", now "answered"/,
    );
  });
});

test('an environment that scores by rules of its own keeps its rewards', async () => {
  const { withRewards: _, ...own } = counting;
  await expect(openEnv(own, {}, { rewards: withBrief })).rejects.toMatchObject({
    code: 'usage.fixed_rewards',
  });
});

test('the summary pairs the scores of each task', async () => {
  const before = await recorded({ samples: 2 });
  const scores = new RescoredScores();
  const halved = (declared: RewardDeclarations) => ({
    ...withBrief(declared),
    reached: { ...declared.reached!, weight: 0.5 },
  });
  for (const { recorded: was, rescored: now } of await rescored(before, halved)) scores.add(was, now);
  const { episodes, aborted, changed, reward, components } = scores.summary();
  // In 16 episodes, two calls give back the half that the goal has lost.
  expect([episodes, aborted, changed]).toEqual([80, 0, 64]);
  expect(components.reached!.difference).toEqual({ mean: 0, interval: [0, 0] });
  expect(components.brief).toMatchObject({ before: null, difference: null });
  const change = components.brief!.after! - components.reached!.after! / 2;
  expect(reward.after! - reward.before!).toBeCloseTo(change, 12);
  expect(reward.difference!.mean).toBeCloseTo(change, 12);
  expect(reward.difference!.interval![0]).toBeLessThan(change);
});
