/** Jobs that run several at a time. */
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { atOnce } from '../at-once.ts';
import { flagsOf } from '../run-node.ts';

test('as many jobs run at once as were asked for, in their order', async () => {
  const [begun, running]: [number[], number[]] = [[], []];
  let most = 0;
  const job = (number: number) => async () => {
    begun.push(number);
    running.push(number);
    most = Math.max(most, running.length);
    await setTimeout(5);
    running.splice(running.indexOf(number), 1);
  };
  await atOnce(
    3,
    Array.from({ length: 8 }, (_, number) => job(number)),
  );
  expect([begun, most, running]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7], 3, []]);
});

test('after a failure, jobs that had begun end, and no other begins', async () => {
  const ended: string[] = [];
  const jobs = [
    async () => {
      throw new Error('first');
    },
    async () => {
      await setTimeout(10);
      ended.push('second');
    },
    async () => ended.push('third'),
  ];
  await expect(atOnce(2, jobs)).rejects.toThrow('first');
  expect(ended).toEqual(['second']);
});

test('flags of a script that runs again', () => {
  const flags = { atOnce: 1, rows: 'GRPO, PPO', tune: true, world: undefined, lora: false };
  expect(flagsOf(flags)).toEqual(['--at-once', '1', '--rows', 'GRPO, PPO', '--tune']);
});
