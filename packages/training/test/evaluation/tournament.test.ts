import { defineToolEnv, openEnv, type Policy, ToolEnvError, type Trajectory } from '@toolenv/core';
import { expect, test } from 'vitest';
import auction from '../../../../examples/auction.ts';
import rockPaperScissors from '../../../../examples/rock-paper-scissors.ts';
import { seatings } from '../../src/evaluation/tournament.ts';
import { playTournament } from '../../src/index.ts';

/** Says the same in every turn. */
const saying = (text: string): Policy & { ended: number } => {
  const policy = {
    spec: { name: text, contextLength: 100 },
    ended: 0,
    act: async () => ({ text, toolCalls: [], stopReason: 'stop' as const }),
    endEpisode() {
      policy.ended += 1;
    },
  };
  return policy;
};

test('seatings give every entrant every seat equally often', () => {
  expect(seatings(['a', 'b'], 2)).toEqual([
    ['a', 'b'],
    ['b', 'a'],
  ]);
  for (const [entrants, seats, games] of [
    [2, 2, 2],
    [3, 2, 6],
    [2, 4, 4],
    [3, 4, 12],
    [4, 4, 4],
    [6, 4, 60],
  ] as const) {
    const names = [...'abcdef'].slice(0, entrants);
    const tables = seatings(names, seats);
    expect(tables).toHaveLength(games);
    for (const name of names)
      for (let seat = 0; seat < seats; seat++)
        expect(tables.filter((table) => table[seat] === name)).toHaveLength(games / entrants);
  }
});

test('each policy plays each other in both seats, and the win rates follow', async () => {
  await using env = await openEnv(rockPaperScissors);
  const games: [Trajectory, Record<string, string>][] = [];
  const policies = { rock: saying('R'), paper: saying('P'), silence: saying('') };
  const result = await playTournament({
    ...{ env, policies, samples: 3 },
    onGame: (game, { seating, ended, all }) => {
      games.push([game as Trajectory, { ...seating }]);
      expect([ended, all]).toEqual([games.length, 18]);
    },
  });
  const { standings, seconds, ...rest } = result;
  // Six seatings, of one task three times.
  expect(rest).toEqual({
    seats: ['first', 'opponent'],
    games: 18,
    aborted: 0,
    units: { of: 'samples', count: 3 },
  });
  expect(Object.keys(standings)).toEqual(['paper', 'rock', 'silence']);
  expect(standings.paper).toMatchObject({
    winRate: { mean: 1 },
    reward: { mean: 1 },
    bySeat: { first: 1, opponent: 1 },
    against: { rock: { mean: 1 }, silence: { mean: 1 } },
  });
  expect(standings.rock).toMatchObject({
    winRate: { mean: 0.5 },
    against: { paper: { mean: 0 }, silence: { mean: 1 } },
  });
  // Wilson's interval of 3 of 3.
  expect(standings.paper!.against.rock!.interval![0]).toBeCloseTo(0.4385, 4);
  for (const [game, seating] of games) {
    const said = (conversation: string | undefined) =>
      new Set(
        game.steps.flatMap(({ observation, action }) =>
          observation.conversation === conversation ? [action.text] : [],
        ),
      );
    expect([...said(undefined)]).toEqual([policies[seating.first as 'rock'].spec.name]);
    expect([...said('opponent')]).toEqual([policies[seating.opponent as 'rock'].spec.name]);
  }
  expect(policies.rock.ended).toBe(12);
});

test('two policies fill the four seats of an auction, and begin each game alike', async () => {
  await using env = await openEnv(auction);
  const policies = { high: saying('9'), low: saying('1') };
  const { standings, units, games } = await playTournament({ env, policies, count: 12 });
  expect([units, games]).toEqual([{ of: 'tasks', count: 12 }, 48]);
  // Who bids 9 wins, and pays the other 9: a loss for whoever values it less.
  expect(standings.low!.reward).toMatchObject({ mean: 0 });
  expect(standings.high!.reward!.mean).toBeLessThan(0);
  expect(standings.low!.winRate!.mean).toBeGreaterThan(0.5);
  const sum = standings.low!.winRate!.mean + standings.high!.winRate!.mean;
  expect(sum).toBeCloseTo(1, 12);
});

test('an aborted game counts for nobody', async () => {
  await using env = await openEnv(rockPaperScissors);
  const failing: Policy = {
    ...saying('R'),
    act: () => Promise.reject(new ToolEnvError('infrastructure.down', 'The server is down.')),
  };
  const policies = { rock: saying('R'), paper: saying('P'), failing };
  const { aborted, causes, standings } = await playTournament({ env, policies, maxAborted: 1, retries: 0 });
  expect([aborted, causes]).toEqual([4, { 'infrastructure.down: The server is down.': 4 }]);
  expect(standings.failing).toEqual({
    winRate: null,
    reward: null,
    bySeat: { first: null, opponent: null },
    against: { rock: null, paper: null },
  });
  expect(standings.paper!.winRate!.mean).toBe(1);
});

test('refuses what is no tournament', async () => {
  const policies = { a: saying('a'), b: saying('b') };
  const refused = (message: RegExp) => ({
    code: 'usage.tournament',
    message: expect.stringMatching(message),
  });
  await using env = await openEnv(rockPaperScissors);
  await expect(playTournament({ env, policies: { a: saying('a') } })).rejects.toMatchObject(
    refused(/1 policies cannot play each other: give two or more/),
  );
  await expect(playTournament({ env, policies, split: 'validation' })).rejects.toMatchObject(
    refused(/split "validation" has no tasks/),
  );
  await using closed = await openEnv(rockPaperScissors, { opponent: 'random' });
  await expect(playTournament({ env: closed, policies })).rejects.toMatchObject(
    refused(/rock-paper-scissors-v1 has no second player whom the policy plays too/),
  );
  const silent = defineToolEnv({
    name: 'silent-v1',
    description: 'Rewards the first player only.',
    tasks: { test: [1] },
    players: { user: { description: 'the user' } },
    rewards: { done: { kind: 'outcome' } },
    episode: () => ({ messages: 'Go.', onAnswer: () => ({ end: 'over', rewards: { done: 1 } }) }),
  });
  await using unscored = await openEnv(silent);
  await expect(playTournament({ env: unscored, policies })).rejects.toMatchObject(
    refused(/a game ended without a reward of "user": return playerRewards: \{ user: … \}/),
  );
});
