/** pass@k, beside what counting all subsets gives. */
import type { Policy } from '@toolenv/core';
import { expect, test } from 'vitest';
import { openLadder } from '../../../core/test/ladder-env.ts';
import { passAtK, passRates } from '../../src/evaluation/evaluate.ts';
import { evaluate } from '../../src/index.ts';

/** The share of the subsets of k of n episodes that have one of the first `passed`. */
function counted(n: number, passed: number, k: number): number {
  let [all, good] = [0, 0];
  for (let subset = 0; subset < 2 ** n; subset++) {
    const members = [...Array(n).keys()].filter((i) => (subset >> i) & 1);
    if (members.length !== k) continue;
    all += 1;
    good += Number(members.some((i) => i < passed));
  }
  return good / all;
}

test('equals the share of all subsets of k episodes with at least one that passed', () => {
  for (let n = 1; n <= 8; n++)
    for (let passed = 0; passed <= n; passed++)
      for (let k = 1; k <= n; k++)
        expect(passAtK(n, passed, k), `${n} ${passed} ${k}`).toBeCloseTo(counted(n, passed, k), 12);
});

test('tasks with fewer episodes than k are left out', () => {
  const rates = passRates(
    [
      [true, false, false, false],
      [false, false, false, false],
      [true, true],
    ],
    4,
  );
  expect(Object.keys(rates)).toEqual(['1', '2', '4']);
  expect(rates[1]!.mean).toBeCloseTo((0.25 + 0 + 1) / 3, 12);
  expect(rates[2]!.mean).toBeCloseTo((0.5 + 0 + 1) / 3, 12);
  expect(rates[4]!.mean).toBeCloseTo(0.5, 12);
});

test('an evaluation with several episodes of each task reports avg@k, pass@k and intervals', async () => {
  // Climbs one or two rungs by the seed of the episode: right where that is the goal.
  const rungs = (seed: number) => 1 + (seed % 2);
  const policy: Policy = {
    spec: { name: 'seeded', contextLength: 100 },
    async act({ messages }, { seed }) {
      if (messages.length > 1) return { text: 'done', toolCalls: [], stopReason: 'stop' };
      const toolCalls = [{ id: 'call', name: 'climb', arguments: { rungs: rungs(seed) } }];
      return { text: '', toolCalls, stopReason: 'tool_call' };
    },
  };
  const env = openLadder();
  const right: boolean[][] = [];
  const found = await evaluate({
    env,
    policy,
    split: 'validation',
    count: 3,
    samples: 6,
    temperature: 1,
    onTrajectory({ group, sample, rewards }) {
      right[group] ??= [];
      right[group][sample] = rewards.right === 1;
    },
  });
  expect(found.episodes).toBe(18);
  const shares = right.map((task) => task.filter((each) => each).length / 6);
  expect(shares[0]! + shares[1]!).toBeGreaterThan(0);
  expect(found.means.right).toBeCloseTo(shares.reduce((sum, share) => sum + share, 0) / 3, 12);
  expect(found.pass?.score).toBe('right');
  expect(Object.keys(found.pass!.at)).toEqual(['1', '2', '4', '6']);
  expect(found.pass!.at[1]!.mean).toBeCloseTo(found.means.right!, 12);
  expect(found.pass!.at[6]!.mean).toBeCloseTo(shares.filter((share) => share > 0).length / 3, 12);
  const [low, high] = found.intervals.right!;
  expect(low).toBeLessThan(found.means.right!);
  expect(high).toBeGreaterThan(found.means.right!);

  const once = await evaluate({ env, policy, split: 'validation', count: 3 });
  expect(once.pass).toBeUndefined();
  expect(once.samples).toBe(1);
});
