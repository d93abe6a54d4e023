/** The study of the small policy in every environment: how it scores, and its page. */
import { scriptedPolicy } from '@toolenv/core';
import { expect, test } from 'vitest';
import { isLeftOut } from '../../workshop/tiny-policy/library/goals.ts';
import { openLibraryEnv } from '../../workshop/tiny-policy/library/player.ts';
import { environments } from '../library/environments.ts';
import { examine } from '../library/examine.ts';
import { pageOf } from '../library/page.ts';
import type { Result } from '../library/results.ts';

test('scores tasks of left-out goals by themselves', async () => {
  const { wordle } = environments;
  await using env = await openLibraryEnv(wordle, 1);
  const tasks = await Promise.all(Array.from({ length: 40 }, (_, index) => env.tasks.test.get(index)));
  const words = tasks.map(String);
  const word = words.find((each) => isLeftOut(each))!;
  const guesses = scriptedPolicy(() => word);
  const run = { count: 40, temperature: 0, seed: 1 };
  const { all, leftOut, leftOutTasks } = await examine(wordle, env, guesses, run);
  expect(all).toBe(1 / 40);
  expect(leftOutTasks).toBe(words.filter((each) => isLeftOut(each)).length);
  expect(leftOut).toBe(1 / leftOutTasks);
});

test('the page pairs GRPO with the other rows by seed', () => {
  const result = (row: Result['row'], seed: number, all: number, leftOut: number | null): Result => {
    const success = { all, leftOut, leftOutTasks: leftOut === null ? 0 : 40 };
    const curve =
      row === 'GRPO'
        ? ([
            [0, 0.3],
            [10, all],
          ] as [number, number][])
        : [];
    const run = { steps: 10, policy: 'p', seconds: 1, commit: 'c', curve };
    return { environment: 'sql', row, seed, greedy: success, sampled: success, ...run };
  };
  const rows = [0.5, 0.6, 0.7].flatMap((value, index) => [
    result('Start', index + 1, value, 0.1),
    result('Best supervised phase', index + 1, value + 0.1, 0.1),
    result('GRPO', index + 1, value + 0.2, null),
  ]);
  const page = pageOf(rows);
  expect(page).toContain('| sql | +0.200 [+0.200, +0.200] | +0.200 [+0.200, +0.200] |  |  |');
  expect(page).toContain('## sql');
  expect(page).toContain('| Start | 0.600 [0.352, 0.848] |');
  const supervised =
    '| GRPO minus Best supervised phase | +0.100 [+0.100, +0.100] | +0.100 [+0.100, +0.100] |  |  |';
  expect(page).toContain(supervised);
  // The first table has it.
  expect(page).not.toContain('| GRPO minus Start | +');
  expect(page).toContain('by update: 0: 0.30, 10: 0.80.');
  expect(page).not.toContain('## bank');
});
