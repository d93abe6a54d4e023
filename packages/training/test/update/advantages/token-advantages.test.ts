/** Advantages of tokens against the numbers of Agent-R1's original code, and their blindness to the environment's tokens. */
import { type RewardSpec, type Trajectory, terminated } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type TrainingRow, toTrainingRows } from '../../../src/rows/training-row.ts';
import { advantages } from '../../../src/update/advantages/advantages.ts';
import { advantageInputs, estimateAdvantages } from '../../../src/update/advantages/define-advantage.ts';
import {
  discountedReturns,
  reinforceAdvantages,
  reinforceBaselineAdvantages,
} from '../../../src/update/advantages/reinforce-advantages.ts';
import { completionMask } from '../../../src/update/token-masks.ts';

/** The golden episodes; what lies at m = 0 is garbage. */
const rewards = [
  [0, 0.2, Number.NaN, 1e9, 1],
  [0, 0, 0.5, -7, 3],
];
const mask = [Uint8Array.of(1, 1, 0, 0, 1), Uint8Array.of(1, 1, 1, 0, 0)];
const own = [0, 1];
const apart = [undefined, undefined];

function expectRows(found: readonly ArrayLike<number>[], expected: number[][], digits = 5): void {
  for (const [b, row] of expected.entries()) {
    const kept = Array.from(found[b]!).filter((_, t) => mask[b]![t] === 1);
    expect(kept).toHaveLength(row.length);
    for (const [i, value] of row.entries()) {
      expect(Math.abs(kept[i]! - value)).toBeLessThan(10 ** -digits);
    }
    for (const [t, bit] of mask[b]!.entries()) if (bit === 0) expect(found[b]![t]).toBe(0);
  }
}

test('REINFORCE++ equals the golden numbers', () => {
  expectRows(reinforceAdvantages(rewards, mask, apart, 0.9), [
    [0.77742, 1.12062, 0.80862],
    [-1.04782, -0.90742, -0.75142],
  ]);
});

test('REINFORCE++-baseline equals the golden numbers', () => {
  expectRows(reinforceBaselineAdvantages([1.2, 0.5], [0, 0], mask, own), [
    [0.91287, 0.91287, 0.91287],
    [-0.91287, -0.91287, -0.91287],
  ]);
});

test("without the advantage mask the environment's tokens discount, and are whitened with the rest", () => {
  const clean = [
    [0, 0.2, 0, 0, 1],
    [0, 0, 0.5, 0, 0],
  ];
  const wide = mask.map(completionMask);
  const returns = discountedReturns(clean, wide, apart, 0.9);
  // 0.2 + 0.9³ and 0.9·that, where skipping gives 1.1 and 0.99.
  expect(returns[0]![1]).toBeCloseTo(0.929, 6);
  expect(returns[0]![0]).toBeCloseTo(0.8361, 6);
  const skipped = reinforceAdvantages(clean, mask, apart, 0.9);
  const whole = reinforceAdvantages(clean, wide, apart, 0.9);
  expect(whole[0]![0]).not.toBeCloseTo(skipped[0]![0]!, 2);
  // Five tokens of +.35 and three of −.35 now: mean .0875, unbiased variance .1225·8/7 − .0875²·8/7.
  const baseline = reinforceBaselineAdvantages([1.2, 0.5], [0, 0], wide, own);
  const deviation = Math.sqrt(((0.1225 - 0.0875 ** 2) * 8) / 7);
  expect(baseline[0]![2]).toBeCloseTo((0.35 - 0.0875) / deviation, 5);
  expect(baseline[1]![0]).toBeCloseTo((-0.35 - 0.0875) / deviation, 5);
});

test('returns continue over the rows of an episode that forked', () => {
  const one = discountedReturns([[0, 1, 0, 2]], [Uint8Array.of(1, 1, 0, 1)], [undefined], 0.5);
  const forked = discountedReturns(
    [
      [0, 1],
      [0, 5],
      [0, 2],
    ],
    [Uint8Array.of(1, 1), Uint8Array.of(0, 1), Uint8Array.of(0, 1)],
    [undefined, undefined, { row: 0, token: 1 }],
    0.5,
  );
  expect([...one[0]!]).toEqual([1, 2, 0, 2]);
  expect(forked.map((row) => [...row])).toEqual([
    [1, 2],
    [0, 5],
    [0, 2],
  ]);
});

const rewardSpec: RewardSpec = {
  right: { kind: 'outcome', range: [0, 1], weight: 1 },
  found: { kind: 'process', range: [0, 4], weight: 0.25 },
};

/** A random episode: for each turn how many tokens it reads and generates, what it finds, and whether it forks. */
const episode = fc
  .record({
    turns: fc.array(
      fc.record({
        read: fc.integer({ min: 1, max: 3 }),
        generated: fc.integer({ min: 1, max: 3 }),
        found: fc.integer({ min: 0, max: 4 }),
        forks: fc.boolean(),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    right: fc.integer({ min: 0, max: 1 }),
    group: fc.integer({ min: 0, max: 1 }),
  })
  .map(({ turns, right, group }): Trajectory => {
    let context: number[] = [];
    const steps = turns.map(({ read, generated, found, forks }, turn) => {
      const prompt = [...(forks ? [5] : context), ...new Array<number>(read).fill(9)];
      context = [...prompt, ...new Array<number>(generated).fill(1)];
      const tokens = {
        prompt: Int32Array.from(prompt),
        action: new Int32Array(generated).fill(1),
        logprobs: new Float32Array(generated).fill(-1),
      };
      return {
        observation: { messages: [], tools: [] },
        action: { text: '', toolCalls: [], stopReason: 'stop' as const, tokens },
        calls: [],
        rewards: { found, ...(turn === turns.length - 1 && { right }) },
        info: {},
      };
    });
    const found = turns.reduce((sum, turn) => sum + turn.found, 0);
    return {
      ...{
        version: 1,
        env: 'e',
        policy: 'p',
        episodeId: 'x',
        index: 0,
        task: null,
        group,
        sample: 0,
        seed: 0,
      },
      ...{ rewardSpec, steps, outcome: terminated('answered'), rewards: {}, reward: right + 0.25 * found },
    };
  });

interface AdvantageOptions {
  advantage: string;
  scaleRewards: string;
  credit: string;
  gamma: number;
}

const options: fc.Arbitrary<AdvantageOptions> = fc.record({
  advantage: fc.constantFrom('grpo', 'rloo', 'reinforce++', 'reinforce++-baseline'),
  scaleRewards: fc.constantFrom('group', 'batch', 'none'),
  credit: fc.constantFrom('episode', 'turn'),
  gamma: fc.constantFrom(1, 0.9),
});

function estimate(
  trajectories: readonly Trajectory[],
  rows: readonly TrainingRow[],
  rewards: readonly ArrayLike<number>[],
  mask: readonly Uint8Array[],
  { advantage, ...options }: AdvantageOptions,
) {
  const inputs = advantageInputs(trajectories, rows, rewards, mask);
  return estimateAdvantages(advantages[advantage]!, inputs, options);
}

test("a reward written over an environment's token changes nothing, in any estimator", () => {
  const garbage = fc.constantFrom(1, 1e30, Number.NaN, Number.NEGATIVE_INFINITY);
  fc.assert(
    fc.property(
      fc.array(episode, { minLength: 1, maxLength: 5 }),
      options,
      garbage,
      (trajectories, options, value) => {
        const rows = trajectories.flatMap(toTrainingRows);
        const masks = rows.map(({ mask }) => mask);
        const rewards = rows.map((row) => row.rewards);
        const spoilt = rewards.map((row, b) => row.map((kept, t) => (masks[b]![t] === 1 ? kept : value)));
        const found = estimate(trajectories, rows, spoilt, masks, options);
        expect(found).toEqual(estimate(trajectories, rows, rewards, masks, options));
        for (const [b, row] of found.entries()) {
          for (const [t, advantage] of row.entries()) {
            expect(Number.isFinite(advantage)).toBe(true);
            if (masks[b]![t] === 0) expect(advantage).toBe(0);
          }
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('a changed reward on an action token changes the score of its episode by the same amount', () => {
  const several = fc.array(episode, { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(several, (played) => {
      // A group of one has nothing to be compared with.
      const trajectories = played.map((trajectory) => ({ ...trajectory, group: 0 }));
      const rows = trajectories.flatMap(toTrainingRows);
      const masks = rows.map(({ mask }) => mask);
      const shaped = rows.map((row) => Float64Array.from(row.rewards));
      const first = masks[0]!.indexOf(1);
      shaped[0]![first]! += 2;
      const at = (rewards: readonly ArrayLike<number>[]) =>
        estimate(trajectories, rows, rewards, masks, {
          ...{ advantage: 'rloo', scaleRewards: 'none', credit: 'episode', gamma: 1 },
        });
      const before = at(rows.map((row) => row.rewards))[0]![first]!;
      expect(at(shaped)[0]![first]! - before).toBeCloseTo(2, 6);
    }),
  );
});
