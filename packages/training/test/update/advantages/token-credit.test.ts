/** Credit per token: where rewards lie, how process rewards are scaled, what whitening and the ablation's mask see. */
import { type RewardSpec, type Rewards, type Trajectory, terminated } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toTrainingRows, whiten } from '../../../src/index.ts';
import { normalisedRewards } from '../../../src/update/advantages/reinforce-advantages.ts';
import { broadcastAdvantages, completionMask } from '../../../src/update/token-masks.ts';

const rewardSpec: RewardSpec = {
  right: { kind: 'outcome', range: [0, 1], weight: 2 },
  found: { kind: 'process', range: [-9, 9], weight: 0.5 },
};

/** Each turn generates two tokens and reads one; `fork` makes it begin a row of its own. */
function trajectoryOf(turns: { rewards: Rewards; fork?: boolean }[]): Trajectory {
  let context = [7];
  const steps = turns.map(({ rewards, fork }) => {
    const prompt = fork ? [...context.slice(1), 9] : context;
    context = [...prompt, 1, 2, 8];
    const tokens = {
      prompt: Int32Array.from(prompt),
      action: Int32Array.of(1, 2),
      logprobs: Float32Array.of(-1, -2),
    };
    const action = { text: '', toolCalls: [], stopReason: 'stop' as const, tokens };
    return { observation: { messages: [], tools: [] }, action, calls: [], rewards, info: {} };
  });
  const names = { env: 'e', policy: 'p', episodeId: 'x', index: 0, task: null, group: 0, sample: 0, seed: 0 };
  return {
    version: 1,
    ...names,
    rewardSpec,
    steps,
    outcome: terminated('answered'),
    rewards: {},
    reward: 0,
  };
}

test('a turn’s process reward is on the last token of its call, the outcome on the last action token', () => {
  const [row] = toTrainingRows(
    trajectoryOf([{ rewards: { found: 1 } }, { rewards: { found: 3, right: 1 } }]),
  );
  expect([...row!.rewards]).toEqual([0, 0, 0.5, 0, 0, 3.5]);
  expect([...row!.processRewards]).toEqual([0, 0, 0.5, 0, 0, 1.5]);
  expect([...row!.turns]).toEqual([-1, 0, 0, -1, 1, 1]);
});

test('an episode that ends on a tool response has its outcome on the action before', () => {
  // Truncated after its last call: the response to it is in no prompt.
  const [row] = toTrainingRows(trajectoryOf([{ rewards: {} }, { rewards: { right: 1 } }]));
  expect(row!.rewards.at(-1)).toBe(2);
  expect(row!.mask.at(-1)).toBe(1);
});

test('process rewards, but not outcomes, are divided by the largest return of the batch, across forks', () => {
  const first = trajectoryOf([{ rewards: { found: 2 } }, { rewards: { found: 6, right: 1 }, fork: true }]);
  const second = trajectoryOf([{ rewards: { found: -2 } }, { rewards: { found: 1 } }]);
  const rows = [first, second].flatMap(toTrainingRows);
  // Weighted: 1 then 3, so that the first episode's return is 4; −1 then 0.5.
  const scaled = normalisedRewards(rows).map((row) => [...row].filter((reward) => reward !== 0));
  const expected = [[1 / 4], [3 / 4 + 2], [-1 / 4, 0.5 / 4]];
  for (const [b, row] of expected.entries()) {
    for (const [i, value] of row.entries()) expect(scaled[b]![i]).toBeCloseTo(value, 5);
  }
});

test('without process rewards, normalising changes nothing', () => {
  const rows = [trajectoryOf([{ rewards: {} }, { rewards: { right: 0.5 } }])].flatMap(toTrainingRows);
  expect([...normalisedRewards(rows)[0]!]).toEqual([...rows[0]!.rewards]);
});

const batches = fc
  .array(fc.array(fc.tuple(fc.double({ min: -5, max: 5, noNaN: true }), fc.constantFrom(0, 1))), {
    minLength: 1,
    maxLength: 4,
  })
  .map((rows) => ({
    values: rows.map((row) => Float64Array.from(row, ([value]) => value)),
    mask: rows.map((row) => Uint8Array.from(row, ([, bit]) => bit)),
  }));
const garbage = fc.constantFrom(0, 1e30, Number.NaN, Number.NEGATIVE_INFINITY);

test('whitening gives mean 0 and variance 1, and ignores values at mask 0', () => {
  fc.assert(
    fc.property(batches, garbage, ({ values, mask }, spoilt) => {
      const white = whiten(values, mask);
      const spoil = values.map((row, b) => row.map((value, t) => (mask[b]![t] === 1 ? value : spoilt)));
      expect(whiten(spoil, mask)).toEqual(white);
      const kept = white.flatMap((row, b) => [...row].filter((_, t) => mask[b]![t] === 1));
      const original = values.flatMap((row, b) => [...row].filter((_, t) => mask[b]![t] === 1));
      if (kept.length < 2 || Math.max(...original) - Math.min(...original) < 0.1) return;
      expect(kept.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 6);
      const variance = kept.reduce((sum, value) => sum + value ** 2, 0) / (kept.length - 1);
      expect(variance).toBeCloseTo(1, 3);
    }),
  );
});

test('the completion mask spans from the first generated token to the last', () => {
  expect([...completionMask(Uint8Array.of(0, 1, 0, 0, 1, 0))]).toEqual([0, 1, 1, 1, 1, 0]);
  expect([...completionMask(new Uint8Array(3))]).toEqual([0, 0, 0]);
});

test('advantages are carried to the environment’s tokens that follow an action', () => {
  const mask = [Uint8Array.of(0, 1, 0, 0, 1, 0), Uint8Array.of(0, 0, 0, 0, 0, 0)];
  const advantages = [
    [9, 2, 9, 9, -3, 9],
    [9, 9, 9, 9, 9, 9],
  ];
  const [carried, nothing] = broadcastAdvantages(advantages, mask);
  expect([...carried!]).toEqual([0, 2, 2, 2, -3, 0]);
  expect([...nothing!]).toEqual([0, 0, 0, 0, 0, 0]);
});
