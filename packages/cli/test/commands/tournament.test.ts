/** `toolenv eval --players`: policies that play each other. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../run-cli.ts';

const example = (name: string) => join(import.meta.dirname, '../../../../examples', name);
const game = example('rock-paper-scissors.ts');
const players = ['--players', 'words=random,nothing=idle'];

test.each([
  ['rock-paper-scissors.ts', ['first', 'opponent'], 2],
  ['tic-tac-toe.ts', ['first', 'opponent'], 2],
  ['auction.ts', ['first', 'anna', 'ben', 'carl'], 4],
])('every seat of %s is played by each player', async (file, seats, tables) => {
  const { code, stdout, stderr } = await runCli(
    ...['eval', example(file), ...players, '--count', '20', '--samples', '6', '--json'],
  );
  expect(code, stderr).toBe(0);
  const result = JSON.parse(stdout);
  expect(result.seats).toEqual(seats);
  expect(result.games % (tables * 6)).toBe(0);
  expect(result.players).toEqual({ words: 'random', nothing: 'idle' });
  const { words, nothing } = result.standings;
  expect(words.winRate.mean + nothing.winRate.mean).toBeCloseTo(1, 12);
  expect(words.winRate.mean).toBeGreaterThan(nothing.winRate.mean);
  expect(words.winRate.interval[0]).toBeLessThan(words.winRate.mean);
  expect(Object.keys(words.bySeat)).toEqual(seats);
});

test('prints win rates with intervals, and keeps the games', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'tournament-'));
  try {
    const out = join(parent, 'cup');
    const three = ['--players', 'words=random,nothing=idle,other=random', '--samples', '8', '--out', out];
    const { code, stdout, stderr } = await runCli('eval', game, ...three);
    expect(code, stderr).toBe(0);
    const [title, head, ...rows] = stdout.split('\n').map((line) => line.trim());
    expect(title).toMatch(/greedy, seed 1; means with 95 % confidence intervals over 8 samples of 1 task$/);
    expect(head).toMatch(/^win rate +reward +as first +as opponent$/);
    expect(rows.slice(0, 3).map((row) => row.split(/ +/)[0])).toEqual(['words', 'other', 'nothing']);
    expect(rows[0]).toMatch(/^words +0\.\d{3} \(0\.\d{3} to [01]\.\d{3}\) /);
    expect(rows[4]).toMatch(/^wins against +words +other +nothing$/);
    expect(rows.at(-2)).toMatch(/^games +48 games, in 0:0/);
    const games = (await readFile(join(out, 'trajectories.jsonl'), 'utf8')).trim().split('\n');
    expect(games).toHaveLength(48);
    expect(JSON.parse(await readFile(join(out, 'tournament.json'), 'utf8')).games).toBe(48);
    const again = await runCli('eval', game, ...three);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining(out)]);
  } finally {
    await rm(parent, { recursive: true });
  }
});

test.each([
  [['--players', 'a=random'], '--players a=random: a tournament needs two players or more.'],
  [['--players', 'a=random,b'], '"b" is not name=policy: write it as new=run/policy,old=before/policy.'],
  [['--players', 'a=random,a=idle'], 'two players are named "a": rename one.'],
  [['--players', 'a=random,b=oracle'], 'the oracle knows the turns of one seat only: name another policy.'],
  [[...players, '--policy', 'idle'], '--policy is not for --players: leave one of them out.'],
  [[...players, '--fail-below', 'won=1'], '--fail-below is not for --players: leave one of them out.'],
  [[...players, '--opponent', 'random'], 'has no open seat besides the first: give --opponent self.'],
  [[], 'Give --policy <folder>, or --players <name=policy,...> for policies that play each other.'],
])('%j is refused with a remedy', async (flags, message) => {
  const { code, stderr } = await runCli('eval', game, ...flags);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});
