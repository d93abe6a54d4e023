/** GiGPO's advantages on episodes whose numbers are computed by hand. */
import { type Trajectory, terminated, truncated } from '@toolenv/core';
import { anchorState } from '@toolenv/trainer-grpo';
import { advantageInputs, estimateAdvantages, groupAdvantages, toTrainingRows } from '@toolenv/training';
import { expect, test } from 'vitest';

/** An episode that meets `states`, each after a call with an id of its own, and earns `reward` at the end. */
function episode(states: string[], reward: number, { group = 0, id = 'a' } = {}): Trajectory {
  let context = [9];
  const steps = states.map((state, turn) => {
    const prompt = [...context, 8];
    context = [...prompt, 1];
    const call = { id: `${id}${turn}`, name: 'go', arguments: {} };
    const past =
      turn === 0
        ? []
        : [
            { role: 'user' as const, content: states[0]! },
            { role: 'assistant' as const, content: '', toolCalls: [call] },
          ];
    const shown =
      turn === 0
        ? { role: 'user' as const, content: state }
        : { role: 'tool' as const, content: state, toolCallId: call.id, name: 'go' };
    const tokens = {
      prompt: Int32Array.from(prompt),
      action: Int32Array.of(1),
      logprobs: Float32Array.of(-1),
    };
    return {
      observation: { messages: [...past, shown], tools: [] },
      action: { text: '', toolCalls: [], stopReason: 'stop' as const, tokens },
      calls: [],
      rewards: { win: turn === states.length - 1 ? reward : null },
      info: {},
    };
  });
  return {
    ...{ version: 1, env: 'e', policy: 'p', episodeId: id, index: 0, task: null, group, sample: 0, seed: 0 },
    rewardSpec: { win: { kind: 'outcome', range: [0, 1], weight: 1 } },
    ...{ steps, outcome: terminated('done'), rewards: {}, reward },
  };
}

function advantages(trajectories: Trajectory[], options = {}): number[][] {
  const rows = trajectories.flatMap(toTrainingRows);
  const masks = rows.map(({ mask }) => mask);
  const inputs = advantageInputs(
    trajectories,
    rows,
    rows.map((row) => row.rewards),
    masks,
  );
  const own = { turnWeight: 1, turnGamma: 0.5, anchorScale: 'group', ...options };
  const found = estimateAdvantages(anchorState, inputs, own);
  return found.map((row, b) => [...row].filter((_, t) => masks[b]![t] === 1));
}

function expectClose(found: number[][], expected: number[][]): void {
  expect(found.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  for (const [n, row] of expected.entries()) {
    for (const [turn, value] of row.entries()) expect(found[n]![turn]).toBeCloseTo(value, 4);
  }
}

test('a turn is compared with the turns that began in its state, beside the comparison of episodes', () => {
  // Returns with γ = ½: [½, 1] and [0, 0, 0]. Two states are shared; the cellar was seen once.
  const played = [
    episode(['hall', 'kitchen'], 1, { id: 'a' }),
    episode(['hall', 'cellar', 'kitchen'], 0, { id: 'b' }),
  ];
  const half = Math.SQRT1_2;
  expectClose(advantages(played), [
    [2 * half, 2 * half],
    [-2 * half, -half, -2 * half],
  ]);
  expectClose(advantages(played, { turnWeight: 0.5, anchorScale: 'none' }), [
    [0.5 + 0.25 / 2, 0.5 + 0.5 / 2],
    [-0.5 - 0.25 / 2, -0.5, -0.5 - 0.5 / 2],
  ]);
});

test('without the weight of turns it is GRPO', () => {
  const played = [1, 0, 1].map((reward, n) => episode(['hall', `room ${n % 2}`], reward, { id: `${n}` }));
  const expected = groupAdvantages([1, 0, 1], [0, 0, 0]);
  expectClose(
    advantages(played, { turnWeight: 0 }),
    expected.map((value) => [value, value]),
  );
});

test('of two ways to the goal the shorter is better, though both earn the same', () => {
  const played = [episode(['hall', 'goal'], 1), episode(['hall', 'cellar', 'hall', 'goal'], 1, { id: 'b' })];
  const [short, long] = advantages(played) as [number[], number[]];
  expect(short[0]).toBeGreaterThan(0);
  expect(long[0]).toBeLessThan(0);
  // Back in the hall it is as far from the goal as the first episode was: the state counts, not the number of the turn.
  expect(long[2]).toBeCloseTo(short[0]!, 6);
});

test('states of other tasks do not count', () => {
  const played = [episode(['hall'], 1, { group: 0 }), episode(['hall'], 0, { group: 1, id: 'b' })];
  expect(advantages(played)).toEqual([[0], [0]]);
});

test('the anchor is the last observation, whatever came before it', () => {
  const played = [
    episode(['hall', 'kitchen', 'nothing happens'], 1, { id: 'a' }),
    episode(['hall', 'cellar', 'nothing happens'], 0, { id: 'b' }),
  ];
  const ofTurn = ([, , last]: number[]) => last! - advantages(played, { turnWeight: 0 })[0]![2]!;
  // The last turns are compared: returns of 1 and 0, one standard deviation of √½ apart from their mean on either side.
  expect(ofTurn(advantages(played)[0]!)).toBeCloseTo(Math.SQRT1_2, 4);
  expect(advantages(played)[0]![1]).toBeCloseTo(Math.SQRT1_2, 4);
});

test('the return of a truncated episode ends with it: nothing is bootstrapped', () => {
  const won = episode(['hall', 'kitchen'], 1, { id: 'a' });
  const lost = episode(['hall', 'kitchen'], 0, { id: 'b' });
  const cut = { ...lost, outcome: truncated('max_turns') };
  expectClose(advantages([won, cut]), advantages([won, lost]));
});
