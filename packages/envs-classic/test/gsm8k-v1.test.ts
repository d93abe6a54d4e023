import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StandInHub } from '../../hub/test/stand-in-hub.ts';
import gsm8k from '../src/gsm8k-v1.ts';
import { play } from './play.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-gsm8k-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Rows as the authors write them. */
const rows = Array.from({ length: 10 }, (_, index) => ({
  question: `A box has ${index + 2} eggs. Half of 2,000 boxes are sold. How many eggs are sold?`,
  answer: `Half are 2000*.5=<<2000*.5=1000>>1,000 boxes.\nThey have 1000*${index + 2}=<<1000*${index + 2}=${1000 * (index + 2)}>>${index + 2},000 eggs.\n#### ${index + 2},000`,
}));
const text = (some: readonly object[]) => some.map((row) => JSON.stringify(row)).join('\n');

async function files() {
  const [path, testPath] = [join(folder, 'train.jsonl'), join(folder, 'test.jsonl')];
  await writeFile(path, text(rows.slice(0, 7)));
  await writeFile(testPath, text(rows.slice(7)));
  return { path, testPath, validationTasks: 2 };
}

const task = { question: 'How many?', solution: '', answer: '1031' };
/** None is read, because a task is given. */
const options = { path: 'none.jsonl' };

// What extract_answer and is_correct of the authors' dataset.py give.
test.each([
  ['#### 1031', 1, 1],
  ['#### 1,031', 1, 1],
  ['There are 1031.\n#### 1031 eggs', 1, 1],
  ['#### 1031\n#### 7', 1, 1],
  ['#### 7\n#### 1031', 0, 1],
  ['#### 1031.0', 0, 1],
  ['#### 1031.', 0, 1],
  ['#### $1031', 0, 0],
  ['####1031', 0, 0],
  ['1031', 0, 0],
  ['', 0, 0],
])('the answer "%s" is %d correct and %d of the format', async (answer, correct, format) => {
  const { rewards, reward } = await play(gsm8k, task, [answer], options);
  expect(rewards).toEqual({ correct, format });
  expect(reward).toBe(correct);
});

test('the last problems of the training file are for validation, and the oracle solves all with calls', async () => {
  await using env = await openEnv(gsm8k, await files());
  const lengths = await Promise.all(
    (['train', 'validation', 'test'] as const).map((split) => env.tasks[split].length),
  );
  expect(lengths).toEqual([5, 2, 3]);
  const first = await env.tasks.validation.get(0);
  expect(first.question).toBe(rows[5]!.question);
  const played = await play(gsm8k, first, gsm8k.oracle!(first)!, options);
  expect(played.steps.map(({ calls }) => calls.map(({ text }) => text))).toEqual([['1000'], ['7000'], []]);
  expect(played.rewards).toEqual({ correct: 1, format: 1 });
});

test('without the calculator, the oracle answers at once', async () => {
  await using env = await openEnv(gsm8k, await files());
  const first = await env.tasks.test.get(0);
  const played = await play(gsm8k, first, gsm8k.oracle!(first)!, { ...options, calculator: false });
  expect(played.steps[0]!.observation.tools).toEqual([]);
  expect(played.steps).toHaveLength(1);
  expect(played.steps[0]!.action.text).toBe(
    'Half are 2000*.5=1,000 boxes.\nThey have 1000*9=9,000 eggs.\n#### 9,000',
  );
  expect(played.reward).toBe(1);
});

test('a dataset of the Hub has its own test problems', async () => {
  const hub = await new StandInHub().listen();
  try {
    for (const [variable, value] of Object.entries(hub.variables(folder))) vi.stubEnv(variable, value);
    hub.add(
      'openai/gsm8k',
      {
        'main/train.jsonl': text(rows.slice(0, 7)),
        'main/test.jsonl': text(rows.slice(7)),
        'socratic/train.jsonl': '{}',
      },
      { type: 'datasets' },
    );
    await using env = await openEnv(gsm8k, { validationTasks: 0 });
    expect(await env.tasks.train.length).toBe(7);
    expect(await env.tasks.validation.length).toBe(0);
    expect((await env.tasks.test.get(2)).answer).toBe('11000');
  } finally {
    hub.close();
  }
});

test('a row without an answer is named', async () => {
  const path = join(folder, 'train.jsonl');
  await writeFile(path, text([rows[0]!, { question: 'How many?', answer: 'Many.' }]));
  await using env = await openEnv(gsm8k, { path, validationTasks: 0 });
  await expect(Promise.resolve(env.tasks.train.get(1))).rejects.toMatchObject({
    code: 'usage.broken_record',
    message: expect.stringMatching(/line 2.*no number after ####/),
  });
});
