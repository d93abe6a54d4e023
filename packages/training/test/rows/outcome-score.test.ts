/** outcomeScore: process rewards do not make an episode a success. */
import type { RewardSpec } from '@toolenv/core';
import { expect, test } from 'vitest';
import { outcomeScore } from '../../src/index.ts';

const range = [0, 1] as const;
const rewardSpec: RewardSpec = {
  em: { kind: 'outcome', range, weight: 2 },
  f1: { kind: 'outcome', range, weight: 0 },
  retrieved: { kind: 'process', range, weight: 0.1 },
};

test('the score is that of the outcome rewards, with their weights', () => {
  expect(outcomeScore({ rewardSpec, rewards: { em: 0, f1: 0.5, retrieved: 1 }, reward: 0.1 })).toBe(0);
  expect(outcomeScore({ rewardSpec, rewards: { em: 1, f1: 1, retrieved: 1 }, reward: 2.1 })).toBe(2);
  expect(outcomeScore({ rewardSpec, rewards: { em: 0, f1: null, retrieved: 1 }, reward: 0.1 })).toBe(0);
  // A weight of 0 makes no score.
  expect(outcomeScore({ rewardSpec, rewards: { em: null, f1: 1, retrieved: 1 }, reward: 0.1 })).toBeNull();
});

test('a component is taken as it is', () => {
  const played = { rewardSpec, rewards: { em: 0, f1: 0.5, retrieved: 1 }, reward: 0.1 };
  expect(['em', 'f1', 'retrieved'].map((name) => outcomeScore(played, name))).toEqual([0, 0.5, 1]);
  expect(outcomeScore({ ...played, rewards: { em: 1, f1: null, retrieved: null } }, 'f1')).toBeNull();
});

test('without outcome rewards the whole reward counts, and an aborted episode has no score', () => {
  const process: RewardSpec = { reward: { kind: 'process', range, weight: 1 } };
  expect(outcomeScore({ rewardSpec: process, rewards: { reward: 0.7 }, reward: 0.7 })).toBe(0.7);
  expect(outcomeScore({ rewardSpec, rewards: { em: null }, reward: null })).toBeNull();
  expect(outcomeScore({ rewardSpec, rewards: { em: null }, reward: null }, 'em')).toBeNull();
});
