import {
  type ActionTokens,
  aborted,
  type RewardSpec,
  ToolEnvError,
  type Trajectory,
  terminated,
} from '@toolenv/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toTrainingRows } from '../../src/index.ts';
import type { TrainingRow } from '../../src/rows/training-row.ts';
import { turnParents } from '../../src/rows/training-row.ts';

interface Turn {
  prompt: number[];
  action: number[];
  rewards?: Record<string, number | null>;
  learn?: boolean;
}

const rewardSpec: RewardSpec = {
  em: { kind: 'outcome', range: [0, 1], weight: 1 },
  format: { kind: 'outcome', range: [0, 1], weight: 0.5 },
  found: { kind: 'process', range: [0, 4], weight: 0.25 },
};

/** Log-prob of the i-th token of turn t: −(t + 1) − i/8, exact in float32. */
function logprobsOf(turn: number, length: number): number[] {
  return Array.from({ length }, (_, i) => -(turn + 1) - i / 8);
}

function trajectoryOf(turns: Turn[]): Trajectory {
  const steps = turns.map(({ prompt, action, rewards = {}, learn }, turn) => ({
    observation: { messages: [], tools: [] },
    action: {
      text: '',
      toolCalls: [],
      stopReason: 'stop' as const,
      tokens: {
        prompt: Int32Array.from(prompt),
        action: Int32Array.from(action),
        logprobs: Float32Array.from(logprobsOf(turn, action.length)),
      },
    },
    calls: [],
    rewards,
    info: {},
    ...(learn !== undefined && { learn }),
  }));
  return {
    version: 1,
    env: 'e',
    policy: 'p',
    episodeId: 'x',
    index: 0,
    task: null,
    group: 0,
    sample: 0,
    seed: 0,
    rewardSpec,
    steps,
    outcome: terminated('answered'),
    rewards: {},
    reward: 0,
  };
}

function plain({ tokens, mask, logprobs, rewards }: TrainingRow) {
  return { tokens: [...tokens], mask: [...mask], logprobs: [...logprobs], rewards: [...rewards] };
}

test('steps that append share one row', () => {
  const rows = toTrainingRows(
    trajectoryOf([
      { prompt: [1, 2, 3], action: [4, 5], rewards: { found: 1 } },
      { prompt: [1, 2, 3, 4, 5, 6, 7], action: [8], rewards: { found: 2, em: 1, format: 0.5 } },
    ]),
  );
  expect(rows.map(plain)).toEqual([
    {
      tokens: [1, 2, 3, 4, 5, 6, 7, 8],
      mask: [0, 0, 0, 1, 1, 0, 0, 1],
      logprobs: [0, 0, 0, -1, -1.125, 0, 0, -2],
      rewards: [0, 0, 0, 0, 0.25, 0, 0, 0.5 + 1 + 0.25],
    },
  ]);
});

test('a prompt that rewrites the past starts a row; outcomes are on the last action token', () => {
  const rows = toTrainingRows(
    trajectoryOf([
      { prompt: [1, 2], action: [3], rewards: { found: 4, em: null } },
      // Ends where the last action did not: the token 3 was re-tokenised away.
      { prompt: [1, 2, 9, 9], action: [4, 5], rewards: { em: 1 } },
      { prompt: [1, 2, 9, 9, 4, 5], action: [6], rewards: {} },
    ]),
  );
  expect(rows.map(plain)).toEqual([
    { tokens: [1, 2, 3], mask: [0, 0, 1], logprobs: [0, 0, -1], rewards: [0, 0, 1] },
    {
      tokens: [1, 2, 9, 9, 4, 5, 6],
      mask: [0, 0, 0, 0, 1, 1, 1],
      logprobs: [0, 0, 0, 0, -2, -2.125, -3],
      rewards: [0, 0, 0, 0, 0, 0, 1],
    },
  ]);
});

test('a prompt shorter than the row starts a row, even if it is a prefix', () => {
  const rows = toTrainingRows(
    trajectoryOf([
      { prompt: [1, 2], action: [3] },
      { prompt: [1, 2], action: [3] },
    ]),
  );
  expect(rows.map(({ tokens }) => [...tokens])).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
});

test('aborted and empty trajectories have no rows', () => {
  const whole = trajectoryOf([{ prompt: [1], action: [2] }]);
  expect(toTrainingRows({ ...whole, outcome: aborted(new ToolEnvError('infrastructure.x', 'x')) })).toEqual(
    [],
  );
  expect(toTrainingRows(trajectoryOf([]))).toEqual([]);
});

test.each<[string, Partial<ActionTokens> | undefined, string]>([
  ['no tokens', undefined, 'Turn 0 of episode x has no token ids'],
  ['no prompt', { prompt: new Int32Array() }, 'Turn 0 of episode x has an empty prompt'],
  ['no action', { action: new Int32Array() }, 'Turn 0 of episode x has an empty action'],
  ['a log-prob too few', { logprobs: new Float32Array(1) }, 'has 2 action tokens and 1 log-probs'],
])('%s is a bug', (_, spoilt, message) => {
  const trajectory = trajectoryOf([{ prompt: [1], action: [2, 3] }]);
  const { action } = trajectory.steps[0]!;
  action.tokens = spoilt && { ...action.tokens!, ...spoilt };
  expect(() => toTrainingRows(trajectory)).toThrow(message);
});

/** Where a token came from: the environment, or the policy. Token ids are unique, so that each can be looked up. */
interface Expected {
  turns: Turn[];
  generated: Set<number>;
  forks: number;
  reward: number;
}

const episodes: fc.Arbitrary<Expected> = fc
  .array(
    fc.record({
      environment: fc.integer({ min: 0, max: 5 }),
      action: fc.integer({ min: 1, max: 5 }),
      rewrites: fc.boolean(),
      found: fc.constantFrom(null, 0, 1, 4),
      em: fc.constantFrom(null, 0, 1),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((plan) => {
    let next = 1;
    const fresh = (count: number) => Array.from({ length: count }, () => next++);
    const expected: Expected = { turns: [], generated: new Set(), forks: 0, reward: 0 };
    let context: number[] = [];
    plan.forEach(({ environment, action, rewrites, found, em }, turn) => {
      if (turn === 0 || rewrites) {
        expected.forks += 1;
        context = fresh(1);
      }
      const prompt = [...context, ...fresh(environment)];
      const written = fresh(action);
      for (const token of written) expected.generated.add(token);
      expected.turns.push({ prompt, action: written, rewards: { found, em } });
      expected.reward += 0.25 * (found ?? 0) + (em ?? 0);
      context = [...prompt, ...written];
    });
    return expected;
  });

function masksWhatWasGenerated(
  { tokens, mask }: { tokens: Int32Array; mask: Uint8Array },
  generated: Set<number>,
): boolean {
  return tokens.every((token, i) => (mask[i] === 1) === generated.has(token));
}

test('the mask is 1 exactly on generated tokens, each once; a shifted mask is not', () => {
  fc.assert(
    fc.property(episodes, ({ turns, generated, forks, reward }) => {
      const rows = toTrainingRows(trajectoryOf(turns));
      expect(rows).toHaveLength(forks);
      let masked = 0;
      let total = 0;
      for (const row of rows) {
        const { tokens, mask, logprobs, rewards } = row;
        expect([mask.length, logprobs.length, rewards.length]).toEqual([
          tokens.length,
          tokens.length,
          tokens.length,
        ]);
        expect(masksWhatWasGenerated(row, generated)).toBe(true);
        const shifted = Uint8Array.from(mask, (_, i) => mask[i + 1] ?? 0);
        expect(masksWhatWasGenerated({ tokens, mask: shifted }, generated)).toBe(false);
        mask.forEach((bit, i) => {
          if (bit === 0) expect([logprobs[i], rewards[i]]).toEqual([0, 0]);
          else expect(logprobs[i]).toBeLessThan(0);
          masked += bit;
          total += rewards[i]!;
        });
      }
      expect(masked).toBe(generated.size);
      expect(total).toBeCloseTo(reward, 6);
      expect([...rows.flatMap(({ logprobs }) => [...logprobs].filter((value) => value < 0))]).toEqual(
        turns.flatMap(({ action }, turn) => logprobsOf(turn, action.length)),
      );
    }),
  );
});

describe('an episode is a tree of steps', () => {
  test('two steps that go on from one are siblings: the second starts a row, and learns only its own tokens', () => {
    const rows = toTrainingRows(
      trajectoryOf([
        { prompt: [1, 2], action: [3, 4] },
        { prompt: [1, 2, 3, 4, 5], action: [6], rewards: { found: 4 } },
        { prompt: [1, 2, 3, 4, 7], action: [8], rewards: { em: 1 } },
      ]),
    );
    expect(rows.map(plain)).toEqual([
      {
        tokens: [1, 2, 3, 4, 5, 6],
        mask: [0, 0, 1, 1, 0, 1],
        logprobs: [0, 0, -1, -1.125, 0, -2],
        // The outcome is on both leaves.
        rewards: [0, 0, 0, 0, 0, 2],
      },
      {
        tokens: [1, 2, 3, 4, 7, 8],
        mask: [0, 0, 0, 0, 0, 1],
        logprobs: [0, 0, 0, 0, 0, -3],
        rewards: [0, 0, 0, 0, 0, 1],
      },
    ]);
    expect(rows.map(({ parent }) => parent)).toEqual([undefined, { row: 0, token: 3 }]);
    expect([...rows[1]!.turns]).toEqual([-1, -1, -1, -1, -1, 2]);
  });

  test('a step that goes on from an older row extends it: an agent after its helper', () => {
    const rows = toTrainingRows(
      trajectoryOf([
        { prompt: [1], action: [2] },
        { prompt: [9], action: [8] },
        { prompt: [9, 8, 7], action: [6] },
        { prompt: [1, 2, 3], action: [4], rewards: { em: 1 } },
      ]),
    );
    expect(rows.map(({ tokens, mask }) => [[...tokens], [...mask]])).toEqual([
      [
        [1, 2, 3, 4],
        [0, 1, 0, 1],
      ],
      [
        [9, 8, 7, 6],
        [0, 1, 0, 1],
      ],
    ]);
    expect(rows.map(({ rewards }) => [...rewards])).toEqual([
      [0, 0, 0, 1],
      [0, 0, 0, 1],
    ]);
    // The helper's context begins anew: the step before it in time is its parent.
    expect(rows[1]!.parent).toEqual({ row: 0, token: 1 });
    expect(turnParents(rows)).toEqual([-1, 0, 1, 0]);
  });

  test('the longest prefix wins', () => {
    const [first, second] = toTrainingRows(
      trajectoryOf([
        { prompt: [1], action: [2] },
        { prompt: [1, 2, 3], action: [4] },
        { prompt: [1, 2, 5], action: [6] },
        { prompt: [1, 2, 3, 4, 7], action: [8] },
      ]),
    );
    expect([...first!.tokens]).toEqual([1, 2, 3, 4, 7, 8]);
    expect([...second!.tokens]).toEqual([1, 2, 5, 6]);
  });

  test('every sampled token is learned once, in any tree', () => {
    const plan = fc.array(
      fc.record({
        from: fc.nat(9),
        read: fc.integer({ min: 0, max: 2 }),
        written: fc.integer({ min: 1, max: 3 }),
      }),
      { minLength: 1, maxLength: 10 },
    );
    fc.assert(
      fc.property(plan, (steps) => {
        let next = 1;
        const fresh = (count: number) => Array.from({ length: count }, () => next++);
        const turns: Turn[] = [];
        for (const { from, read, written } of steps) {
          const parent = turns[from];
          // A step that nothing goes before begins anew; two prompts may be equal.
          const context = parent ? [...parent.prompt, ...parent.action] : [0];
          turns.push({ prompt: [...context, ...fresh(read)], action: fresh(written), rewards: { em: 1 } });
        }
        const rows = toTrainingRows(trajectoryOf(turns));
        const learned = rows.flatMap(({ tokens, mask }) => [...tokens].filter((_, t) => mask[t] === 1));
        expect(learned.toSorted((a, b) => a - b)).toEqual(turns.flatMap(({ action }) => action));
        const parents = turnParents(rows);
        for (const [turn, { from }] of steps.entries()) {
          if (from < turn) expect(parents[turn]).toBe(from);
        }
        // Each leaf has the outcome, and nothing else has.
        const leaves = [...turns.keys()].filter((turn) => !parents.includes(turn));
        const rewarded = rows.flatMap(({ rewards, turns: of }) => [...of].filter((_, t) => rewards[t]! > 0));
        expect(rewarded.toSorted((a, b) => a - b)).toEqual(leaves);
      }),
    );
  });
});

test('a turn that is not learned from has no token with mask 1, and its rewards stay in the episode', () => {
  const rows = toTrainingRows(
    trajectoryOf([
      { prompt: [1, 2], action: [3], rewards: { found: 1 }, learn: false },
      { prompt: [1, 2], action: [4], rewards: { found: 2 } },
      { prompt: [1, 2, 4, 5], action: [6], learn: false },
      { prompt: [1, 2, 4, 5, 6, 7], action: [8] },
      { prompt: [9], action: [10], rewards: { found: 4, em: 1 }, learn: false },
    ]),
  );
  expect(rows.map(plain)).toEqual([
    {
      tokens: [1, 2, 4, 5, 6, 7, 8],
      mask: [0, 0, 1, 0, 0, 0, 1],
      logprobs: [0, 0, -2, 0, 0, 0, -4],
      rewards: [0, 0, 0.75, 0, 0, 0, 2],
    },
  ]);
  expect([...rows[0]!.turns]).toEqual([-1, -1, 1, -1, -1, -1, 3]);
  expect(turnParents(rows)[3]).toBe(1);
  const unlearned = trajectoryOf([{ prompt: [1], action: [2], rewards: { em: 1 }, learn: false }]);
  expect(toTrainingRows(unlearned)).toEqual([]);
});
