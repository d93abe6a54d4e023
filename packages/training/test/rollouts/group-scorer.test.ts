/** Scorers of groups: what they say is a component of the reward, and what they cannot say aborts the episodes. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError, type Trajectory } from '@toolenv/core';
import { defineScorer, type OpenScorer, type Scorer } from '@toolenv/core/plugins';
import { checkTrajectory } from '@toolenv/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { grpo } from '../../../trainer-grpo/src/grpo.ts';
import { banditRun, metricOf } from '../bandit-run.ts';
import { memoryFolder } from './workers/memory-folder.ts';

let root: string;
beforeEach(async () => {
  root = await memoryFolder('group-scorer-');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const armOf = ({ steps }: Trajectory) => steps.at(-1)!.action.text;

/** Prefers arm 0, which pays nothing in the bandit. */
function contrary(score?: OpenScorer['score']): Scorer {
  return defineScorer({
    name: 'contrary-v1',
    description: 'Prefers arm 0.',
    options: {
      type: 'object',
      properties: { strength: { type: 'number', default: 1 } },
      additionalProperties: false,
    },
    example: { options: {} },
    range: [0, 2],
    begin: async (_, { strength }) => ({
      score:
        score ??
        (async (episodes) =>
          episodes.map((episode, n) => ({
            value: armOf(episode) === '0' ? Number(strength) : 0,
            text: `arm ${armOf(episode)}`,
            ...(n === 0 && { usage: { requests: 1, inputTokens: 20, outputTokens: 3 } }),
          }))),
    }),
  });
}

const episodesOf = (run: Awaited<ReturnType<typeof banditRun>>) =>
  run.events.flatMap((event) => (event.type === 'rollout' ? event.trajectories : []));

test('a trainer learns from the score of a group, and records have it', async () => {
  const options = { steps: 12, scorer: contrary(), environmentWeight: 0, strength: 2 };
  const run = await banditRun(join(root, 'run'), options as object);
  expect(run.model.probabilities()[0]).toBeGreaterThan(0.8);
  const episodes = episodesOf(run);
  expect(episodes).toHaveLength(12 * 8);
  for (const episode of episodes) {
    const isZero = armOf(episode) === '0';
    expect(episode.rewards).toEqual({ win: isZero ? 0 : 1, contrary: isZero ? 2 : 0 });
    expect(episode.reward).toBe(isZero ? 2 : 0);
    expect(episode.rewardSpec).toEqual({
      win: { kind: 'outcome', range: [0, 1], weight: 0 },
      contrary: { kind: 'outcome', range: [0, 2], weight: 1 },
    });
    const [call] = episode.steps.at(-1)!.environmentCalls!;
    expect(call!.text).toBe(`${isZero ? 2 : 0}: arm ${armOf(episode)}`);
  }
  expect((await checkTrajectory(episodes[0]!)).findings).toEqual([]);
  expect(metricOf(run, 'rollout', 'rewards/contrary/mean').at(-1)![1]).toBeGreaterThan(1);
  // One request for each of two groups.
  expect(metricOf(run, 'rollout', 'tools/model_requests').map(([, value]) => value)).toEqual(
    Array(12).fill(2),
  );
  expect(metricOf(run, 'rollout', 'tools/model_input_tokens')[0]).toEqual([1, 40]);
});

test('both rewards count, in their weights', async () => {
  const options = { steps: 1, scorer: contrary(), scorerWeight: -0.5 };
  const run = await banditRun(join(root, 'run'), options);
  for (const { reward, rewards } of episodesOf(run))
    expect(reward).toBe(rewards.win! - 0.5 * rewards.contrary!);
});

test('a group that cannot be scored is aborted and not learned from', async () => {
  let groups = 0;
  const scorer = contrary(async (episodes) => {
    groups += 1;
    if (groups === 1) throw new ToolEnvError('infrastructure.judge_verdict', 'The judge said nothing.');
    return episodes.map(() => ({ value: null }));
  });
  const run = await banditRun(join(root, 'run'), { steps: 1, scorer, maxAborted: 1 });
  const episodes = episodesOf(run);
  const aborted = episodes.filter(({ outcome }) => outcome.kind === 'aborted');
  expect(aborted).toHaveLength(4);
  for (const episode of aborted) {
    expect(episode.outcome).toMatchObject({ cause: { code: 'infrastructure.judge_verdict' } });
    expect(episode).toMatchObject({ reward: null, rewards: { win: null, contrary: null } });
    expect((await checkTrajectory(episode)).findings).toEqual([]);
  }
  expect(metricOf(run, 'rollout', 'aborted')).toEqual([[1, 4]]);
  expect(metricOf(run, 'rollout', 'episodes')).toEqual([[1, 8]]);
  const others = episodes.filter(({ outcome }) => outcome.kind !== 'aborted');
  expect(others.every(({ rewards, reward }) => rewards.contrary === null && reward === rewards.win)).toBe(
    true,
  );
});

test('a scorer that always fails ends the run with its cause', async () => {
  const scorer = contrary(async () => {
    throw new ToolEnvError('infrastructure.judge_budget', 'The judge has been asked its 0 times.');
  });
  await expect(banditRun(join(root, 'run'), { steps: 9, scorer })).rejects.toMatchObject({
    code: 'infrastructure.too_many_aborted',
    message: expect.stringContaining('judge_budget: The judge has been asked its 0 times.'),
  });
});

test.each([
  ['too few scores', async () => [], 'one score for each of the 4 episodes'],
  [
    'a score out of range',
    async (all: readonly unknown[]) => all.map(() => ({ value: 3 })),
    'numbers from 0 to 2',
  ],
])('%s stop the run as a bug', async (_what, score, message) => {
  const run = banditRun(join(root, 'run'), { steps: 1, scorer: contrary(score as OpenScorer['score']) });
  await expect(run).rejects.toMatchObject({ code: 'bug.scorer', message: expect.stringContaining(message) });
});

test('a component that the environment has already is refused', async () => {
  const scorer = { ...contrary(), name: 'win-v1' };
  await expect(banditRun(join(root, 'run'), { steps: 1, scorer })).rejects.toMatchObject({
    code: 'usage.bad_option',
  });
});

test('the options of a scorer are options of the trainer', () => {
  expect(grpo({ scorer: contrary() } as object).options.properties).toHaveProperty('strength.default', 1);
  expect(() => grpo({ scorer: { name: 'x', description: '', options: {} } as never })).toThrow(
    'defineScorer',
  );
});
