/** Policies without a model: scripts, and the players that every environment has. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

const guess = join(import.meta.dirname, '../authored/guess.ts');
const scripted = join(import.meta.dirname, '../authored/scripted.ts');
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await runCli(...args, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

test('a scripted policy has nothing to close', async () => {
  const { episodes, reward } = await json('eval', guess, '--policy', scripted, '--split', 'test');
  expect([episodes, reward]).toEqual([4, 0.25]);
  const checked = await runCli('check', scripted);
  expect(checked.stderr).toBe('');
});

test('the oracle wins, and a task that it does not know is not scored', async () => {
  const train = await json('eval', guess, '--policy', 'oracle', '--split', 'train');
  expect(train).toMatchObject({
    policy: 'oracle',
    episodes: 3,
    aborted: 0,
    reward: 1,
    turns: 2,
    toolCalls: 1,
  });
  const test = await json('eval', guess, '--policy', 'oracle', '--split', 'test');
  expect(test).toMatchObject({ episodes: 4, aborted: 1, reward: 1 });
});

test('a misspelt player is no checkpoint', async () => {
  const { code, stderr } = await runCli('eval', guess, '--policy', 'oracel');
  expect([code, stderr]).toEqual([2, 'toolenv: There is no policy "oracel". Did you mean "oracle"?\n']);
});

test('the idle player says nothing, and the random player calls and answers as its seed decides', async () => {
  const idle = await json('eval', guess, '--policy', 'idle', '--split', 'test');
  expect(idle).toMatchObject({ reward: 0, turns: 7, toolCalls: 0 });
  const random = ['eval', guess, '--policy', 'random', '--split', 'test', '--samples', '20'];
  const [first, again, other] = [
    await json(...random),
    await json(...random, '--concurrency', '1'),
    await json(...random, '--seed', '8'),
  ];
  expect(first).toMatchObject({ episodes: 80, aborted: 0 });
  expect(first.toolCalls).toBeGreaterThan(1);
  expect(again.toolCalls).toBe(first.toolCalls);
  expect(other.toolCalls).not.toBe(first.toolCalls);
});

test('they are compared in one table', async () => {
  const players = ['oracle', 'random', 'idle'].flatMap((name) => ['--policy', name]);
  const { policies } = await json('eval', guess, ...players, '--split', 'train');
  expect(policies.map(({ policy }: { policy: string }) => policy)).toEqual(['oracle', 'random', 'idle']);
  expect(policies[0].reward).toBe(1);
});

test('an environment without an oracle says so', async () => {
  const { code, stderr } = await runCli('eval', fixture.env, '--policy', 'oracle');
  expect(stderr).toMatch(/^toolenv: lamp has no oracle: add one to its definition.*--policy random/);
  expect(code).toBe(2);
});

test('an oracle that lists the turns of the first player does not play another', async () => {
  const selling = join(import.meta.dirname, '../authored/selling.ts');
  const self = await runCli('eval', selling, '--policy', 'oracle', '--split', 'train');
  expect(self.stderr).toContain(
    'The oracle of selling-v1 lists the turns of the first player only: name who plays "buyer": --buyer plain.',
  );
  expect(self.code).toBe(2);
  const scripted = await json('eval', selling, '--policy', 'oracle', '--split', 'train', '--buyer', 'plain');
  expect(scripted.reward).toBe(1);
});

test('a worker plays with them too', async () => {
  const out = await mkdtemp(join(tmpdir(), 'toolenv-players-'));
  try {
    const { reward } = await json('rollout', guess, '--policy', 'oracle', '--out', out, '--count', '3');
    expect(reward).toBe(1);
    expect((await readFile(join(out, 'trajectories.jsonl'), 'utf8')).trim().split('\n')).toHaveLength(3);
  } finally {
    await rm(out, { recursive: true });
  }
});
