/** The demonstrations and the rows of the real study. Its training is not run here. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Action, createRng, openEnv } from '@toolenv/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeProblems } from '../../workshop/datasets/write-problems.ts';
import { demonstrate } from '../real/demonstrate.ts';
import { arithmetic, gsm8k } from '../real/demonstrators.ts';
import { environments } from '../real/environments.ts';
import { chartOf, figureOf } from '../real/figure.ts';
import { pageOf } from '../real/page.ts';
import { optionFlags } from '../real/play-row.ts';
import { newest, type Result } from '../real/results.ts';
import { rows } from '../real/rows.ts';
import { testKinds } from '../real/test-kinds.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(Object.entries(environments))(
  '%s',
  (name, { ref, options, files, demonstrator, components: [score] }) => {
    const open = async () => openEnv(ref, files ? await writeProblems(folder) : options);

    test('each demonstration has the whole score, and they differ in their ways', async () => {
      const file = join(folder, `${name}.jsonl`);
      await using env = await open();
      await demonstrate(file, env, demonstrator, { count: 40, seed: 1, score });
      const lines = (await readFile(file, 'utf8')).trim().split('\n');
      const conversations = lines.map((line) => JSON.parse(line) as { messages: { role: string }[] });
      expect(conversations).toHaveLength(40);
      const turns = conversations.map(
        ({ messages }) => messages.filter(({ role }) => role === 'assistant').length,
      );
      // The problems here have one calculation each.
      expect(new Set(turns).size > 1).toBe(!files);
    });

    test('a demonstration that fails is refused', async () => {
      await using env = await open();
      const demonstrating = demonstrate(join(folder, 'failed.jsonl'), env, () => ['no answer'], {
        ...{ count: 1, seed: 1, score },
      });
      await expect(demonstrating).rejects.toThrow('The demonstration of task 0 has the score 0.');
    });
  },
);

test('where kinds are told apart, each has one demonstration, of its first task', async () => {
  const { ref, options, demonstrator, kindOf, demonstrations: count } = environments.sql!;
  const file = join(folder, 'kinds.jsonl');
  await using env = await openEnv(ref, options);
  await demonstrate(file, env, demonstrator, { count, kindOf, seed: 1, score: 'correct' });
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const questions = lines.map(
    (line) => (JSON.parse(line) as { messages: { content: string }[] }).messages[1]!.content,
  );
  expect(new Set(questions.map((question) => kindOf!({ question }))).size).toBe(12);
  const first = await env.tasks.train.get(0);
  expect(questions[0]).toContain((first as { question: string }).question);
});

test('demonstrations are refused if the tasks have too few kinds', async () => {
  const { ref, options, demonstrator } = environments.sql!;
  await using env = await openEnv(ref, { ...options, tasks: 3 });
  const demonstrating = demonstrate(join(folder, 'few.jsonl'), env, demonstrator, {
    ...{ count: 2, kindOf: () => 'the only kind', seed: 1, score: 'correct' },
  });
  await expect(demonstrating).rejects.toThrow('There are tasks for 1 of 2 demonstrations.');
});

test('an option of an environment is no flag of sampling, even if they have the same name', () => {
  expect(optionFlags({ topK: 1, path: 'a b' })).toEqual([
    '--env-option',
    'topK=1',
    '--env-option',
    'path=a b',
  ]);
});

test('an expression is computed at once, or after its product', () => {
  const ways = Array.from({ length: 50 }, (_, seed) => {
    const turns = arithmetic({ expression: '((3 * 9) + 45) / 8', answer: 9 }, createRng(seed));
    return JSON.stringify(turns);
  });
  const call = (expression: string) => `[{"name":"calculate","arguments":{"expression":"${expression}"}}]`;
  expect(ways.filter((way) => way.startsWith(`[${call('((3 * 9) + 45) / 8')},"`)).length).toBeGreaterThan(0);
  expect(ways.filter((way) => way.startsWith(`[${call('((9 * 3) + 45) / 8')},"`)).length).toBeGreaterThan(0);
  const two = [call('3 * 9'), call('(27 + 45) / 8')].join(',');
  expect(ways.filter((way) => way.startsWith(`[${two},"`)).length).toBeGreaterThan(5);
  expect(ways.every((way) => way.endsWith('#### 9"]'))).toBe(true);
});

test('a solution of GSM8K calls the calculator where its author calculates', () => {
  const solution = 'He sold 48/2 = <<48/2=24>>24 in May.\nThat is 48+24 = <<48+24=72>>72.\n#### 72';
  const turns = gsm8k({ solution }, createRng(1)) as Action[];
  expect(turns.map((turn) => (typeof turn === 'string' ? turn : turn.text))).toEqual([
    'He sold 48/2 =',
    '24 in May.\nThat is 48+24 =',
    '72.\n#### 72',
  ]);
  expect(turns.slice(0, 2).map(({ toolCalls: [call] }) => call)).toMatchObject([
    { name: 'calculate', arguments: { expression: '48/2' } },
    { name: 'calculate', arguments: { expression: '48+24' } },
  ]);
});

test('rows that learn from their own episodes begin with one policy, and play as many', () => {
  const playing = rows.filter(({ learnsFrom }) => learnsFrom === 'episodes');
  expect(playing).toHaveLength(6);
  for (const { from, train } of playing)
    expect({ from, ...train }).toMatchObject({ from: 'Supervised', tasksPerStep: 16, groupSize: 8 });
});

test('the page compares GRPO with its start, seed by seed, and shows what only GRPO solves', () => {
  const resultOf = (row: string, seed: number, scores: number[]): Result => ({
    ...{ environment: 'sql', row, seed, tests: { 'test tasks': { correct: scores } } },
    ...{ steps: 40, tokens: 50, curve: [], seconds: 600, machine: '1 of 2 cores', commit: 'c' },
    episodes: scores.map((_, task) => [
      { who: 'user', text: `question ${task}` },
      { who: 'assistant', text: `${row} says ${task}` },
    ]),
  });
  const results = [
    resultOf('Supervised', 1, [1, 0, 0, 0, 0, 0]),
    resultOf('GRPO', 1, [1, 0, 1, 1, 1, 1]),
    resultOf('GRPO', 2, [1, 1, 1, 1, 1, 1]),
  ];
  const page = pageOf(results, { sql: ['short', 'long', 'short', 'long', 'short', 'long'] });
  expect(page).toContain('Training of all rows below took 0.5 hours, each row on 1 of 2 cores.');
  expect(page).toContain('12 demonstrations, 32 times each');
  expect(page).toContain('| Supervised | 0.167 (one seed; [0.030, 0.564] over tasks) | 1 | 10 |');
  expect(page).toContain('| GRPO | 0.917 [0.000, 1.000] | 2 | 10 |');
  expect(page).toContain('| Supervised | +0.750 [−0.309, +1.809] | [+0.000, +1.000] |');
  const short = pageOf([{ ...resultOf('GRPO', 1, [1, 0]), environment: 'gsm8k', steps: 12 }], {});
  expect(short).toContain('| GRPO, 12 steps | 0.500 (one seed; [0.095, 0.905] over tasks) |');
  expect(short).toContain('A turn has at most 128 tokens.');
  expect(page).toContain('Fewer than three seeds: GRPO (2). A run of these took 10 minutes, and the rows');
  expect(page).toContain('| sql | 0.167 |  |  | 0.917 |  |  |');
  expect(page).not.toContain('By the intervals over tasks');
  const rivals = [
    resultOf('Supervised longer', 1, [0, 0, 0, 0, 0, 0]),
    resultOf('Rejection sampling', 1, [1, 1, 0, 1, 1, 1]),
  ];
  const compared = pageOf([...results, ...rivals], {});
  expect(compared).toContain(
    '| sql | 0.167 | 0.000 | 0.833 | 0.917 | +0.833 (one seed); [+0.000, +1.000] | +0.000 (one seed); [−1.000, +1.000] |',
  );
  // Six tasks say little.
  expect(compared).toContain(
    'GRPO beats longer supervision in none of them, and rejection sampling in none of them.',
  );
  expect(compared).toContain('In sql, nothing shows that GRPO learns more.');
  const many = (score: number) => Array<number>(60).fill(score);
  const ahead = pageOf(
    [...rivals.map(({ row }) => resultOf(row, 1, many(0))), resultOf('GRPO', 1, many(1))],
    {},
  );
  expect(ahead).toContain('GRPO beats longer supervision in sql, and rejection sampling in sql.');
  expect(ahead).not.toContain('nothing shows that GRPO learns more');
  const three = [1, 2, 3].map((seed) => resultOf('GRPO', seed, [1, 1, 1, 1, 1, 1]));
  expect(pageOf([results[0]!, ...three], {})).not.toContain('Fewer than three seeds');
  const shown = [...page.matchAll(/question \d/g)].map(([text]) => text);
  expect(shown).toEqual(['question 2', 'question 3', 'question 4']);
  expect(page).toContain('before\nSupervised says 2\n\nafter\nGRPO says 2\n');
  expect(page).not.toContain('real-model-sql.svg');
  expect(page).toContain('| test tasks | long | short |');
  expect(page).toContain('| GRPO | 0.83 | 1.00 |');
  expect(pageOf([resultOf('GRPO', 1, [1])], { sql: ['short', 'long'] })).toContain('| GRPO |  | 1.00 |');
});

test('the page counts the episodes of GRPO that add 0, as no demonstration does', async () => {
  const resultOf = (seed: number, calls: string[]): Result => ({
    ...{ environment: 'arithmetic', row: 'GRPO', seed, tests: { 'test tasks': { correct: [1] } } },
    ...{ steps: 40, tokens: 50, curve: [], seconds: 600, machine: '1 of 2 cores', commit: 'c' },
    episodes: calls.map((text) => [{ who: 'assistant', text }]),
  });
  const found = [resultOf(1, ['(3 * 4) + 0', '(3 * 4) + 07', '(3 - 0) * 4']), resultOf(2, ['3 * 4'])];
  expect(pageOf(found, {})).toContain('these have one: 2 of 3 (seed 1), 0 of 1 (seed 2).');
  expect(pageOf([resultOf(1, ['3 + 0.5'])], {})).not.toContain('these have one');
  const file = join(folder, 'zeros.jsonl');
  const { ref, demonstrator } = environments.arithmetic!;
  await using env = await openEnv(ref);
  await demonstrate(file, env, demonstrator, { count: 150, seed: 1, score: 'correct' });
  expect(await readFile(file, 'utf8')).not.toMatch(/[+-] 0\b/);
});

test('the kinds of arithmetic are the numbers of operations', async () => {
  const { arithmetic: kinds } = await testKinds();
  expect(kinds).toHaveLength(200);
  expect(Object.keys(await testKinds())).toEqual(['arithmetic']);
  for (const operations of [2, 3, 4, 5])
    expect(kinds!.filter((kind) => kind === `${operations} operations`).length).toBeGreaterThan(40);
});

test('the chart of an environment has the mean of the seeds at the steps that all of them have', () => {
  const resultOf = (row: string, seed: number, curve: number[]): Result => ({
    ...{ environment: 'sql', row, seed, curve, tests: { 'test tasks': { correct: [0] } }, episodes: [] },
    ...{ steps: 3, tokens: 50, seconds: 600, machine: '1 of 2 cores', commit: 'c' },
  });
  const results = [
    ...[resultOf('GRPO', 1, [0, 0.5, 1]), resultOf('GRPO', 2, [0, 0.25])],
    resultOf('GRPO with shuffled rewards', 1, [0, 0, 0]),
  ];
  expect(chartOf('bridge', results)).toBeUndefined();
  expect(chartOf('sql', [resultOf('Supervised', 1, [])])).toBeUndefined();
  const lines = [...chartOf('sql', results)!.matchAll(/<polyline points="([^"]*)"/g)].map(([, points]) =>
    points!.split(' ').map((point) => Number(point.split(',')[1])),
  );
  // From 0 at the bottom, 344, to 0.4 at the top, 78.
  expect(lines).toEqual([
    [344, 344, 344],
    [344, 94.6],
  ]);
});

test('the figure of an environment has the first task that only GRPO solves, and the chart beside it', () => {
  const resultOf = (row: string, scores: number[], curve: number[]): Result => ({
    ...{ environment: 'sql', row, seed: 1, curve, tests: { 'test tasks': { correct: scores } } },
    ...{ steps: 2, tokens: 50, seconds: 600, machine: '1 of 2 cores', commit: 'c' },
    episodes: scores.map((_, task) => [{ who: 'assistant', text: `${row} says ${task}` }]),
  });
  const start = resultOf('Supervised', [1, 0, 0], []);
  const figure = figureOf('sql', [start, resultOf('GRPO', [1, 1, 1], [0.4, 0.9])])!;
  const said = [...figure.matchAll(/(before|after|\w+ says \d)</g)].map(([, text]) => text);
  expect(said).toEqual(['before', 'Supervised says 1', 'after', 'GRPO says 1']);
  expect(figure).toContain('<polyline');
  expect(figureOf('sql', [start, resultOf('GRPO', [1, 0, 0], [0.4, 0.9])])).not.toContain('says');
  expect(figureOf('sql', [start])).toBeUndefined();
});

test('a run that took tests later counts once, with its last result', () => {
  const result = (seed: number, tokens: number) =>
    ({ environment: 'lookup', row: 'GRPO', seed, steps: 40, tokens }) as Result;
  const known = [result(1, 10), result(2, 20), result(1, 30)];
  expect(newest(known).map(({ seed, tokens }) => [seed, tokens])).toEqual([
    [1, 30],
    [2, 20],
  ]);
});
