import { expect, test } from 'vitest';
import { type RewardSpec, scoreTruncation, sumRewards, weigh } from '../../src/protocol/reward.ts';

const spec: RewardSpec = {
  em: { kind: 'outcome', range: [0, 1], weight: 1 },
  f1: { kind: 'outcome', range: [0, 1], weight: 0 },
  found: { kind: 'process', range: [-1, 1], weight: 0.25 },
};

test('sums components over steps, and keeps null for components that no step scored', () => {
  const rewards = sumRewards(spec, [
    { rewards: { found: 1 } },
    {},
    { rewards: { found: 1, em: 0, f1: null } },
  ]);
  expect(rewards).toEqual({ em: 0, f1: null, found: 2 });
  expect(weigh(spec, rewards)).toBe(0.5);
});

test('nothing scored is no reward, and a component of weight 0 counts where no other is declared', () => {
  expect(weigh(spec, { em: null, f1: null, found: null })).toBeNull();
  expect(weigh(spec, {})).toBeNull();
  expect(weigh(spec, { em: null, f1: 1 })).toBeNull();
  expect(weigh(spec, { em: null, found: 0 })).toBe(0);
  const { f1 } = spec as { f1: RewardSpec[string] };
  expect([weigh({ f1 }, { f1: 1 }), weigh({ f1 }, { f1: null }), weigh({}, {})]).toEqual([0, null, 0]);
});

test('scores 0 for a truncation only in unscored outcome components', () => {
  expect(scoreTruncation(spec, { em: 0.5, found: 1 })).toEqual({ em: 0.5, f1: 0, found: 1 });
  expect(scoreTruncation(spec, { f1: null })).toEqual({ em: 0, f1: 0 });
});

test.each([
  [{ typo: 1 }, 'Reward "typo" is not declared in the spec. Declared: em, f1, found (ENV-20).'],
  [{ em: 1.5 }, 'Reward "em" is 1.5, outside its range [0, 1] (ENV-21).'],
  [{ em: Number.NaN }, 'Reward "em" is NaN: give a finite number or null (ENV-21).'],
  [{ em: '0.5' as never }, 'Reward "em" is "0.5": give a finite number or null (ENV-21).'],
  [{ toString: 0 }, 'Reward "toString" is not declared in the spec. Declared: em, f1, found (ENV-20).'],
])('%o is a bug', (rewards, message) => {
  expect(() => sumRewards(spec, [{ rewards: rewards as never }])).toThrow(message);
});
