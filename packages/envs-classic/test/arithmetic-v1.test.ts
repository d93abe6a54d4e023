import { createRng, openEnv, type Split } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evaluateExpression } from '../src/arithmetic/evaluate-expression.ts';
import { drawProblem } from '../src/arithmetic/problem.ts';
import arithmetic from '../src/arithmetic-v1.ts';
import { play } from './play.ts';

const task = {
  question: 'Ada buys 4 boxes of 7 pencils. Ada finds 3 pencils.',
  expression: '4 * 7 + 3',
  answer: 31,
};
const calculation = (expression: unknown) => [{ name: 'calculate', arguments: { expression } }];

test('rewards the number after ####, and reports the format', async () => {
  const { steps, rewards, reward, outcome } = await play(arithmetic, task, [
    calculation('4 * 7 + 3'),
    'There are 31 pencils.\n#### 31',
  ]);
  expect(steps[0]!.calls[0]!.text).toBe('31');
  expect(rewards).toEqual({ correct: 1, format: 1 });
  expect(reward).toBe(1);
  expect(outcome).toEqual({ kind: 'terminated', reason: 'answered' });
});

test.each([
  ['#### 31', 1, 1],
  ['####31.0 pencils', 1, 1],
  ['First #### 30, no: #### 31', 1, 1],
  ['#### 31\n#### 30', 0, 1],
  ['#### 1,031', 0, 1],
  ['#### -31', 0, 1],
  ['31', 0, 0],
  ['#### thirty-one', 0, 0],
  ['', 0, 0],
])('the answer "%s" is %d correct and %d of the format', async (answer, correct, format) => {
  const { rewards, reward } = await play(arithmetic, task, [answer]);
  expect(rewards).toEqual({ correct, format });
  expect(reward).toBe(correct);
});

test('reads commas between digits', async () => {
  const { reward } = await play(arithmetic, { ...task, answer: 1031 }, ['#### 1,031']);
  expect(reward).toBe(1);
});

test('a mistaken calculation is answered and costs a turn', async () => {
  const { steps, rewards, outcome } = await play(arithmetic, task, () => calculation('4 boxes'));
  expect(steps[0]!.calls[0]!.mistake).toMatchObject({
    code: 'invalid_arguments',
    path: '/expression',
    expected: 'numbers, + - * / and parentheses',
    received: '"4 boxes"',
  });
  expect(steps).toHaveLength(8);
  expect(outcome).toEqual({ kind: 'truncated', reason: 'max_turns' });
  expect(rewards).toEqual({ correct: 0, format: 0 });
});

test('a division by zero is an error of the tool', async () => {
  const { steps } = await play(arithmetic, task, [calculation('1 / (2 - 2)'), '']);
  expect(steps[0]!.calls[0]!.result!.isError).toBe(true);
  expect(steps[0]!.calls[0]!.text).toBe('Error: The expression divides by zero or is too large.');
});

test('every problem has its steps, an answer that follows, and no number that gives it away', () => {
  const splits = fc.constantFrom<Split>('train', 'validation', 'test');
  fc.assert(
    fc.property(fc.nat(), splits, fc.integer({ min: 2, max: 7 }), (seed, split, steps) => {
      const { question, expression, answer } = drawProblem(createRng(seed), split, steps);
      expect(evaluateExpression(expression)).toBe(answer);
      expect(expression.match(/[-+*/]/g)).toHaveLength(steps);
      expect(Number.isInteger(answer) && answer >= 2).toBe(true);
      expect(question.match(/\d+/g)).not.toContain(String(answer));
      expect(question).not.toMatch(/[{}]|undefined|NaN/);
    }),
    { numRuns: 1000 },
  );
});

test('minSteps and maxSteps bound the operations', async () => {
  const env = await openEnv(arithmetic, { minSteps: 6, maxSteps: 7, tasks: 100 });
  expect(env.tasks.train.length).toBe(100);
  const counts = new Set<number>();
  for (let index = 0; index < 100; index++)
    counts.add((await env.tasks.train.get(index)).expression.match(/[-+*/]/g)!.length);
  expect([...counts].toSorted()).toEqual([6, 7]);
  await env.close();
});

test('minSteps above maxSteps is refused, with the remedy', async () => {
  await expect(openEnv(arithmetic, { minSteps: 6 })).rejects.toThrow(
    'minSteps is above maxSteps: give minSteps at most maxSteps',
  );
});

test('no problem occurs in two splits', async () => {
  const env = await openEnv(arithmetic);
  const questions = async (split: Split) => {
    const { length } = env.tasks[split];
    const all = Array.from({ length: await length }, (_, index) => env.tasks[split].get(index));
    return (await Promise.all(all)).map(({ question }) => question);
  };
  const train = await questions('train');
  const validation = await questions('validation');
  const held = await questions('test');
  await env.close();
  expect([train.length, validation.length, held.length]).toEqual([10_000, 100, 200]);
  const distinct = (texts: string[]) => new Set(texts).size;
  expect(distinct([...train, ...validation, ...held])).toBe(
    distinct(train) + distinct(validation) + distinct(held),
  );
});
