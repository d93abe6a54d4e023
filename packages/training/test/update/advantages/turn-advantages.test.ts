/** Advantages of turns: by hand, and against the true policy gradient where the policy decides when to stop. */
import { expect, test } from 'vitest';
import { turnAdvantages, turnReturns } from '../../../src/update/advantages/group-advantages.ts';

test('the advantage of a turn is its return, compared with the whole group', () => {
  const rewards = [[1, 0, 2], [0, 1], [0]];
  // Returns 3, 2, 2 · 1, 1, – · 0, –, –; an episode that had ended counts with 0.
  const advantages = turnAdvantages(rewards, [0, 0, 0], { scale: 'none', leaveOneOut: false });
  const expected = [[3 - 4 / 3, 2 - 1, 2 - 2 / 3], [1 - 4 / 3, 1 - 1], [0 - 4 / 3]];
  for (const [n, row] of expected.entries()) {
    for (const [turn, value] of row.entries()) expect(advantages[n]![turn]).toBeCloseTo(value, 10);
  }
});

test('scales all turns by the standard deviation of whole episodes', () => {
  const rewards = [[1, 0, 2], [0, 1], [0]];
  const plain = turnAdvantages(rewards, [0, 0, 0], { scale: 'none', leaveOneOut: false });
  const scaled = turnAdvantages(rewards, [0, 0, 0], { scale: 'group', leaveOneOut: false });
  // Episodes of 3, 1 and 0: variance 7/3.
  for (const [n, row] of plain.entries()) {
    for (const [turn, value] of row.entries()) {
      expect(scaled[n]![turn]).toBeCloseTo(value / (Math.sqrt(7 / 3) + 1e-6), 10);
    }
  }
});

test('episodes of one turn have the advantages of whole episodes', () => {
  const advantages = turnAdvantages([[1], [0]], [0, 0], { scale: 'group', leaveOneOut: false });
  expect(advantages[0]![0]).toBeCloseTo(Math.SQRT1_2, 5);
  expect(turnAdvantages([[1], [0]], [0, 0], { scale: 'group', leaveOneOut: true })).toEqual([[1], [-1]]);
});

/**
 * A policy that, at each of up to three turns, goes on with probability σ(θ_turn). What an episode earns in each turn
 * depends on how far it goes. All outcomes of a group of three are enumerated, so that expectations are exact.
 */
const theta = [0.3, -0.4];
const goOn = theta.map((logit) => 1 / (1 + Math.exp(-logit)));
/** Episodes of one, two or three turns. */
const episodes = [
  { turns: 1, probability: 1 - goOn[0]!, rewards: [0.5] },
  { turns: 2, probability: goOn[0]! * (1 - goOn[1]!), rewards: [0, 0.2] },
  { turns: 3, probability: goOn[0]! * goOn[1]!, rewards: [0, 0, 2] },
];

/** ∂ log π(decision at `turn`) / ∂θ_turn: there are decisions at turns 0 and 1. */
function slope({ turns }: { turns: number }, turn: number): number {
  return turns > turn + 1 ? 1 - goOn[turn]! : -goOn[turn]!;
}

/** E[Σ_n Σ_turn ∇ log π · A] / 3 for the advantages that `estimate` gives. */
function expectedGradient(estimate: (rewards: number[][]) => number[][]): [number, number] {
  const gradient: [number, number] = [0, 0];
  for (const a of episodes) {
    for (const b of episodes) {
      for (const c of episodes) {
        const group = [a, b, c];
        const probability = a.probability * b.probability * c.probability;
        const advantages = estimate(group.map(({ rewards }) => rewards));
        for (const [n, episode] of group.entries()) {
          for (const turn of [0, 1] as const) {
            if (turn >= episode.turns) continue;
            gradient[turn] += (probability * slope(episode, turn) * advantages[n]![turn]!) / 3;
          }
        }
      }
    }
  }
  return gradient;
}

/** ∂E[return]/∂θ, by finite differences. */
function trueGradient(): [number, number] {
  const value = (logits: number[]) => {
    const [p, q] = logits.map((logit) => 1 / (1 + Math.exp(-logit))) as [number, number];
    return (1 - p) * 0.5 + p * (1 - q) * 0.2 + p * q * 2;
  };
  return [0, 1].map((turn) => {
    const moved = (by: number) => value(theta.map((logit, i) => (i === turn ? logit + by : logit)));
    return (moved(1e-5) - moved(-1e-5)) / 2e-5;
  }) as [number, number];
}

test('with leave-one-out, the expected gradient is the true gradient, however the policy stops', () => {
  const expected = trueGradient();
  const found = expectedGradient((rewards) =>
    turnAdvantages(rewards, [0, 0, 0], { scale: 'none', leaveOneOut: true }),
  );
  for (const turn of [0, 1]) expect(found[turn]).toBeCloseTo(expected[turn]!, 8);
});

test('with the group mean, it is (n − 1)/n of the true gradient at every turn', () => {
  const expected = trueGradient();
  const found = expectedGradient((rewards) =>
    turnAdvantages(rewards, [0, 0, 0], { scale: 'none', leaveOneOut: false }),
  );
  for (const turn of [0, 1]) expect(found[turn]).toBeCloseTo((2 / 3) * expected[turn]!, 8);
});

test('with the mean over the episodes that reached the turn, late turns would learn less', () => {
  const naive = (rewards: number[][]) => {
    const returns = rewards.map((row) => row.map((_, turn) => row.slice(turn).reduce((a, b) => a + b, 0)));
    return returns.map((row) =>
      row.map((value, turn) => {
        const there = returns.filter(({ length }) => length > turn);
        return value - there.reduce((sum, other) => sum + other[turn]!, 0) / there.length;
      }),
    );
  };
  const expected = trueGradient();
  const found = expectedGradient(naive);
  expect(found[0]! / expected[0]!).toBeCloseTo(2 / 3, 8);
  expect(found[1]! / expected[1]!).toBeLessThan(0.6);
});

test('the return of a turn is the mean over the branches that go on from it, discounted per turn', () => {
  // Turn 0 branches into 1 and 2; 3 goes on from 1.
  expect(turnReturns([1, 2, 4, 8], [-1, 0, 0, 1], 0.5)).toEqual([1 + 0.5 * ((6 + 4) / 2), 6, 4, 8]);
  expect(turnReturns([1, 2, 4])).toEqual([7, 6, 4]);
});
