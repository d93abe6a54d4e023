import { openEnv, playTask, type Script, type Trajectory } from '@toolenv/core';
import { assertConforms, checkEnv } from '@toolenv/testing';
import { expect, test } from 'vitest';
import warehouse from '../src/warehouse-v1.ts';

/** Plays the first test task with a script. */
async function play(script: Script): Promise<Trajectory> {
  await using env = await openEnv(warehouse);
  return await playTask(env, await env.tasks.test.get(0), script);
}

test('rewards the answer that the server gives', async () => {
  const { steps, reward } = await play(({ messages }, turn) =>
    turn === 0 ? [{ name: 'count', arguments: { shelf: 'B', item: 'lamps' } }] : messages.at(-1)!.content,
  );
  expect(steps[0]!.calls[0]!.text).toBe('7');
  expect(reward).toBe(1);
});

test('gives no reward for a wrong answer, and shows the model what the server refuses', async () => {
  const { steps, reward } = await play((_seen, turn) =>
    turn === 0 ? [{ name: 'count', arguments: { shelf: 'Z', item: 'lamps' } }] : '8',
  );
  expect(steps[0]!.calls[0]).toMatchObject({ result: { isError: true } });
  expect(steps[0]!.calls[0]!.text).toContain('There is no shelf Z: there are A, B, C.');
  expect(reward).toBe(0);
});

test('follows the rules of the toolenv spec', async () => {
  // The server only reads, so episodes may share it, which is faster than a process for each.
  await assertConforms(checkEnv(warehouse, { options: { lifetime: 'shared' } }));
}, 60_000);
