/** Rewards for length: the formulas of the papers, and where an episode gets them. */
import { type EnvHandle, type RewardSpec, type Trajectory, terminated } from '@toolenv/core';
import { expect, test } from 'vitest';
import { applyLengthRewards, toTrainingRows } from '../../src/index.ts';
import { groupLengthRewards, overlongPunishment } from '../../src/update/length-rewards.ts';

test("DAPO's punishment: what TRL's get_soft_overlong_punishment(100, 20) gives", () => {
  const lengths = [0, 79, 80, 81, 90, 99, 100, 101, 500];
  const expected = [0, 0, 0, -0.05, -0.5, -0.95, -1, -1, -1];
  for (const [i, length] of lengths.entries()) {
    expect(overlongPunishment(length, 100, 20)).toBeCloseTo(expected[i]!, 12);
  }
});

test("Kimi's length reward: from ½ for the shortest to −½ for the longest, and never a reward for failing", () => {
  // One group of four; a group of which none succeeds; a group of equal lengths.
  const lengths = [10, 20, 30, 10, 10, 20, 7, 7];
  const scores = [1, 1, 1, 0, 0, 0, 1, 0];
  const groups = [0, 0, 0, 0, 1, 1, 2, 2];
  expect(groupLengthRewards(lengths, scores, groups)).toEqual([0.5, 0, -0.5, 0, 0, -0.5, 0, 0]);
});

const rewardSpec: RewardSpec = { win: { kind: 'outcome', range: [0, 1], weight: 1 } };

/** [prompt, action] of each step; the last step earns 1. */
function episode(turns: [prompt: number[], action: number[]][]): Trajectory {
  const steps = turns.map(([prompt, action], turn) => ({
    observation: { messages: [], tools: [] },
    action: {
      text: '',
      toolCalls: [],
      stopReason: 'stop' as const,
      tokens: {
        prompt: Int32Array.from(prompt),
        action: Int32Array.from(action),
        logprobs: new Float32Array(action.length),
      },
    },
    calls: [],
    rewards: { win: turn === turns.length - 1 ? 1 : null },
    info: {},
  }));
  return {
    ...{
      version: 1,
      env: 'e',
      policy: 'p',
      episodeId: 'x',
      index: 0,
      task: null,
      group: 0,
      sample: 0,
      seed: 0,
    },
    ...{ rewardSpec, steps, outcome: terminated('done'), rewards: { win: 1 }, reward: 1 },
  };
}

const runOf = (maxTurns: number) => ({
  env: { episode: () => ({ spec: { limits: { maxTurns } } }) } as unknown as EnvHandle<unknown>,
});
const run = runOf(1);
const off = { maxTokens: 8, overlongBuffer: 0, overlongPenalty: 1, lengthPenalty: 0 };

test('each leaf of an episode has the reward for its length, and the score counts it once', () => {
  const branching = episode([
    [[1], [2, 3]],
    [[1, 2, 3, 4], [5]],
    [
      [1, 2, 3, 6],
      [7, 8],
    ],
  ]);
  const short = episode([[[1], [2]]]);
  const trajectories = [branching, short];
  const rows = trajectories.flatMap(toTrainingRows);
  // Five tokens and one, within a limit of six and a buffer of four; Kimi's reward is −½ and ½.
  const options = { ...off, maxCompletionLength: 6, overlongBuffer: 4, lengthPenalty: 0.5 };
  const shaped = applyLengthRewards({ trajectories, rows }, options, run);
  const ofLong = -3 / 4 - 0.25;
  expect(shaped.lengthRewards).toEqual([ofLong, 0.25]);
  expect(shaped.trajectories.map(({ reward }) => reward)).toEqual([1 + ofLong, 1.25]);
  expect(shaped.rows.map(({ rewards }) => [...rewards])).toEqual([
    [0, 0, 0, 0, 1 + ofLong],
    [0, 0, 0, 0, 0, 1 + ofLong],
    [0, 1.25],
  ]);
  expect(shaped.rows.map(({ trajectory }) => shaped.trajectories.indexOf(trajectory))).toEqual([0, 0, 1]);
  expect(trajectories[0]!.reward).toBe(1);
});

test('the limit is that of the whole episode: what fits into its turns is not punished', () => {
  const turn = Array.from({ length: 30 }, () => 2);
  const prompts = [0, 1, 2].map((before) => [1, ...Array.from({ length: 30 * before }, () => 2)]);
  const trajectories = [episode(prompts.map((prompt) => [prompt, turn]))];
  const rows = trajectories.flatMap(toTrainingRows);
  const rewardsIn = (maxTurns: number) =>
    applyLengthRewards(
      { trajectories, rows },
      { ...off, maxTokens: 64, overlongBuffer: 16 },
      runOf(maxTurns),
    ).trajectories.map(({ reward }) => reward);
  expect(rewardsIn(3)).toEqual([1]);
  // 90 tokens of at most 64: the whole penalty.
  expect(rewardsIn(1)).toEqual([0]);
});

test('an episode that earned process rewards and failed is no success to be rewarded for its length', () => {
  const spec: RewardSpec = { ...rewardSpec, found: { kind: 'process', range: [0, 1], weight: 0.1 } };
  const failed = { rewardSpec: spec, rewards: { win: 0, found: 1 }, reward: 0.1 };
  const trajectories = [
    { ...episode([[[1], [2]]]), ...failed },
    { ...episode([[[1], [2, 3, 4]]]), ...failed },
  ];
  const rows = trajectories.flatMap(toTrainingRows);
  const { lengthRewards } = applyLengthRewards({ trajectories, rows }, { ...off, lengthPenalty: 1 }, run);
  expect(lengthRewards).toEqual([0, -0.5]);
});

test('without these options, nothing changes', () => {
  const trajectories = [episode([[[1], [2]]])];
  const batch = { trajectories, rows: trajectories.flatMap(toTrainingRows) };
  expect(applyLengthRewards(batch, off, run)).toEqual(batch);
});
