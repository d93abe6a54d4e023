/** Every example runs. */
import { execFile } from 'node:child_process';
import { cp, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openEnv, playTask, type Scripted } from '@toolenv/core';
import { assertConforms, checkEnv, checkTrainer } from '@toolenv/testing';
import { describe, expect, test } from 'vitest';
import auction from '../../examples/auction.ts';
import bank from '../../examples/bank.ts';
import bestOfN from '../../examples/best-of-n.ts';
import hiddenWish from '../../examples/hidden-wish.ts';
import memoryGraph from '../../examples/memory-graph.ts';
import negotiation from '../../examples/negotiation.ts';
import rockPaperScissors from '../../examples/rock-paper-scissors.ts';
import ticTacToe from '../../examples/tic-tac-toe.ts';
import { readTypeScript } from '../read-typescript.ts';
import { newFolder } from '../test/new-folder.ts';
import { runShell } from './shell.ts';

const root = join(import.meta.dirname, '../..');

/** What an example prints, on the built packages. */
async function runExample(file: string, ...args: string[]): Promise<string> {
  const flags = [...readTypeScript, join('examples', file), ...args];
  return (await promisify(execFile)(process.execPath, flags, { cwd: root })).stdout;
}

test('train-from-code.ts trains for two steps and evaluates before and after', async () => {
  const out = await newFolder();
  const printed = (await runExample('train-from-code.ts', out)).trim().split('\n');
  expect(printed).toHaveLength(4);
  expect(printed[0]).toMatch(/^step 1 loss -?\d/);
  expect(printed[1]).toMatch(/^step 2 loss -?\d/);
  expect(printed[2]).toBe(`saved ${join(out, 'checkpoints', 'step-2')}`);
  expect(printed[3]).toMatch(/^exact match 0\.\d+ before, 0\.\d+ after$/);
  expect(await readdir(join(out, 'checkpoints'))).toEqual(['step-2']);
});

test.each([
  ['wordle.ts', 35],
  ['memory-graph.ts', 40],
  ['bank.ts', 45],
  ['best-of-n.ts', 45],
  ['critic-advantage.ts', 25],
  ['own-advantage.ts', 25],
  ['own-loss.ts', 25],
])('%s has at most %d lines', async (file, lines) => {
  const text = await readFile(join(root, 'examples', file), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(lines);
});

test('best-of-n.ts follows the rules of the spec', async () => {
  await assertConforms(checkTrainer(bestOfN));
});

// `npm run packed` checks the rules of the spec: a process for each episode takes a while.
test('memory-graph.ts rewards the corrected graph only', async () => {
  await using env = await openEnv(memoryGraph);
  const task = { from: 'Oslo', to: 'Rome' };
  const relations = (to: string) => [{ from: 'Ada', to, relationType: 'lives in' }];
  const corrected = [
    [{ name: 'delete_relations', arguments: { relations: relations('Oslo') } }],
    [{ name: 'create_relations', arguments: { relations: relations('Rome') } }],
  ];
  const play = (script: Scripted[]) => playTask(env, task, script);
  const { reward, steps } = await play([...corrected, 'done']);
  expect(reward).toBe(1);
  expect(steps[0]!.observation.tools.map(({ name }) => name)).not.toContain('read_graph');
  expect((await play([corrected[1]!, 'done'])).reward).toBe(0);
  expect((await play(['done'])).reward).toBe(0);
});

test('environments with other players follow the rules of the spec, whoever plays', async () => {
  await assertConforms(checkEnv(ticTacToe));
  // Nobody wins every game against a random player.
  const random = { options: { opponent: 'random' }, skip: ['ENV-32', 'ENV-33'] } as const;
  await assertConforms(checkEnv(ticTacToe, random));
  await assertConforms(checkEnv(auction));
  await assertConforms(checkEnv(rockPaperScissors));
  for (const partner of ['self', 'fair'])
    await assertConforms(checkEnv(negotiation, { options: { partner }, skip: ['WARN-5'] }));
  await assertConforms(checkEnv(hiddenWish));
});

test('the fair trader of negotiation.ts agrees to half of the value', async () => {
  await using env = await openEnv(negotiation, { partner: 'fair' });
  const deal = { pool: [1, 2, 3], mine: [2, 4, 0], partners: [4, 0, 2] };
  const play = (script: Scripted[]) => playTask(env, deal, script);
  const greedy = await play(['I take 1 book and 2 hats and 3 balls', 'Deal']);
  expect(greedy.steps[0]!.observation.messages[0]!.content).toContain('a book 2, a hat 4, a ball 0');
  expect(greedy.steps[1]!.observation.messages.at(-1)!.content).toBe(
    'The other trader: I take 1 books, 0 hats, 3 balls',
  );
  expect(greedy.reward).toBe(0.8);
  expect((await play(['I take 1 book and 2 hats'])).reward).toBe(1);
  expect((await play(['I take 2 hats'])).reward).toBe(0.8);
  expect((await play(['Deal', 'No', 'No', 'No', 'No'])).outcome).toEqual({
    kind: 'truncated',
    reason: 'max_turns',
  });
});

test('the commands of the recipe of self-play make a policy, train it and score it against a random player', async () => {
  const page = await readFile(join(root, 'docs/recipes/self-play.md'), 'utf8');
  const small: [string, string][] = [
    // The packages are linked below.
    ['npm install toolenv @toolenv/policy @toolenv/trainer-ppo tsx\n', ''],
    ['npx tsx', 'node --import "$TSX"'],
    ['--steps 500', '--steps 2'],
    ['--tasks-per-step 256', '--tasks-per-step 16'],
    ['--evaluate-every 25', '--evaluate-every 1'],
    ['--evaluation-samples 100', '--evaluation-samples 2'],
    ['--samples 400', '--samples 5'],
  ];
  const commands = small.reduce(
    (text, [given, instead]) => {
      expect(text).toContain(given);
      return text.replace(given, instead);
    },
    /```sh\n(.*?)```/s.exec(page)![1]!,
  );
  const folder = await newFolder();
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const file of ['tic-tac-toe.ts', 'untrained-policy.ts'])
    await cp(join(root, 'examples', file), join(folder, file));
  const { stdout } = await runShell(commands, folder);
  const { parameters } = /(?<parameters>[\d,]+) random\s+weights/.exec(page)!.groups!;
  expect(stdout).toContain(`untrained: ${parameters!.replace(',', '')} parameters, 15 tokens`);
  const events = (await readFile(join(folder, 'self-play/metrics.jsonl'), 'utf8')).trim().split('\n');
  const metrics = events.map((line) => JSON.parse(line)).filter(({ type }) => type === 'evaluation');
  expect(metrics.map(({ step }) => step)).toEqual([1, 2]);
  expect(stdout).toMatch(/notLost +\d\.\d+/);
});

test('the README lists every example', async () => {
  const page = await readFile(join(root, 'examples/README.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `([^`]+)`/gm)].map(([, file]) => file);
  const files = (await readdir(join(root, 'examples'))).filter((file) => file.endsWith('.ts'));
  expect(listed).toEqual(files);
});

describe('bank.ts', () => {
  test('is an environment of three tools', async () => {
    await using env = await openEnv(bank);
    const { tools } = await env.episode().reset({ task: await env.tasks.train.get(0), seed: 1 });
    expect(tools.map(({ name }) => name)).toEqual(['look_up', 'lend', 'transfer']);
  });

  test('follows the rules of the spec', async () => {
    const { skipped } = await assertConforms(checkEnv(bank));
    // It has no label, because it hides nothing from the model, and no tools of others that could fail.
    expect(skipped.map(({ rule }) => rule)).toEqual(['ENV-15', 'ENV-30', 'ENV-31']);
  });
});
