/** What a verifier writes becomes a reward from 0 to 1, or a failure that scores 0. */
import { expect, test } from 'vitest';
import type { HarborStep, HarborTask } from '../src/task/harbor-task.ts';
import { isBelow, maxRewardLength, readReward, trialReward } from '../src/verify/reward-file.ts';

const read = (files: Record<string, string>) =>
  readReward(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])));

test.each<[what: string, files: Record<string, string>, reward: number]>([
  ['a number', { 'reward.txt': '1\n' }, 1],
  ['a fraction', { 'reward.txt': ' .25 ' }, 0.25],
  ['an exponent', { 'reward.txt': '+5e-1' }, 0.5],
  ['a table', { 'reward.json': '{"reward": 0.75, "style": 9}' }, 0.75],
  ['a table without "reward"', { 'reward.json': '{"a": 1, "b": 0.5}' }, 0.75],
  ['a truth value', { 'reward.json': '{"reward": true}' }, 1],
  ['both files', { 'reward.txt': '1', 'reward.json': '{"reward": 0.5}' }, 0.5],
])('%s is read', (_, files, reward) => {
  const verdict = read(files);
  expect(verdict).not.toHaveProperty('failed');
  expect(verdict.reward).toBe(reward);
});

test.each<[what: string, files: Record<string, string>, why: string]>([
  ['no file', {}, 'it wrote neither reward.txt nor reward.json'],
  ['an empty file', { 'reward.txt': '\n' }, 'reward.txt is empty'],
  ['a word', { 'reward.txt': 'passed' }, 'reward.txt is not a number'],
  ['two numbers', { 'reward.txt': '1\n1' }, 'reward.txt is not a number'],
  ['NaN', { 'reward.txt': 'nan' }, 'reward.txt is not a number'],
  ['an infinite number', { 'reward.txt': '1e999' }, 'reward.txt is not a finite number'],
  ['a hexadecimal number', { 'reward.txt': '0x1' }, 'reward.txt is not a number'],
  ['more than 1', { 'reward.txt': '2' }, 'the reward is 2, and must lie between 0 and 1'],
  ['less than 0', { 'reward.json': '{"reward": -0.1}' }, 'the reward is -0.1, and must lie between 0 and 1'],
  ['a mistake of JSON', { 'reward.json': '{"reward": NaN}' }, 'reward.json is not a table in JSON'],
  ['a list', { 'reward.json': '[1]' }, 'reward.json is not a table in JSON'],
  ['a plain number in JSON', { 'reward.json': '1' }, 'reward.json is not a table in JSON'],
  ['an empty table', { 'reward.json': '{}' }, 'reward.json is an empty table'],
  [
    'a text in the table',
    { 'reward.json': '{"a": "1"}' },
    'reward.json has a reward that is not a finite number: "a"',
  ],
  [
    'an infinite number in the table',
    { 'reward.json': '{"reward": 1e999}' },
    'not a finite number: "reward"',
  ],
  [
    'a broken table beside a number',
    { 'reward.txt': '1', 'reward.json': '{' },
    'reward.json is not a table in JSON',
  ],
  [
    'a huge file',
    { 'reward.txt': `1${' '.repeat(maxRewardLength)}` },
    'reward.txt has more than 65536 bytes',
  ],
])('%s fails, and scores 0', (_, files, why) => {
  expect(read(files)).toEqual({ reward: 0, failed: expect.stringContaining(why) });
});

test('an inherited name is no reward', () => {
  const step = { minReward: { toString: 0 } } as unknown as HarborStep;
  expect(isBelow(step, { reward: 1, table: { reward: 1 } })).toBe(true);
});

test('steps that are not reached count as 0', () => {
  const task = (strategy: string) => ({ strategy, steps: [{}, {}, {}, {}] }) as unknown as HarborTask;
  const verdicts = [1, 0.5, 0.5].map((reward) => ({ reward, table: { reward } }));
  expect(trialReward(task('mean'), verdicts)).toBe(0.5);
  expect(trialReward(task('final'), verdicts)).toBe(0);
  expect(trialReward(task('final'), [...verdicts, { reward: 0.25, table: {} }])).toBe(0.25);
});

test('a threshold is for each reward that it names', () => {
  const below = (minReward: Record<string, number>, table: Record<string, number>) =>
    isBelow({ minReward } as unknown as HarborStep, { reward: 1, table });
  expect(below({}, {})).toBe(false);
  expect(below({ reward: 0.5 }, { reward: 0.5 })).toBe(false);
  expect(below({ reward: 0.5 }, { reward: 0.4 })).toBe(true);
  expect(below({ style: 0 }, { reward: 1 })).toBe(true);
  expect(isBelow({ minReward: { reward: 0 } } as unknown as HarborStep, { reward: 0, failed: 'x' })).toBe(
    true,
  );
});
