import { openEnv, playTask, type Scripted, type Trajectory } from '@toolenv/core';
import { assertConforms, checkEnv } from '@toolenv/testing';
import { expect, test } from 'vitest';
import safe from '../src/safe-agent-v1.ts';

/** Plays one episode. The script has the answers of the model. */
async function play(code: number, script: Scripted[]): Promise<Trajectory> {
  await using env = await openEnv(safe);
  return await playTask(env, { code }, script);
}

const attempt = (code: unknown) => [{ name: 'try_code', arguments: { code } }];

test('rewards each try by the share of codes that it rules out, and the right code by 1', async () => {
  const { steps, rewards, reward } = await play(731, [attempt(549), attempt(774), attempt(731), ' 731\n']);
  expect(steps.map(({ calls }) => calls[0]?.text)).toEqual([
    'Higher.',
    'Lower.',
    'The safe opens.',
    undefined,
  ]);
  // Of 900 codes, 550 to 999 remain, then 550 to 773, then one.
  expect(steps.map(({ rewards }) => Math.round((rewards?.narrowed ?? 0) * 899))).toEqual([450, 226, 223, 0]);
  expect(rewards.opened).toBe(1);
  expect(rewards.narrowed).toBeCloseTo(1, 12);
  expect(reward).toBeCloseTo(1.1, 12);
});

test('gives no reward for a wrong answer', async () => {
  const { outcome, reward } = await play(731, ['730']);
  expect(outcome).toEqual({ kind: 'terminated', reason: 'answered' });
  expect(reward).toBe(0);
});

test('the agent answers a mistaken call, which costs a turn and rules nothing out', async () => {
  const { steps, outcome, rewards } = await play(731, Array(12).fill(attempt('high')));
  expect(steps[0]!.calls[0]).toMatchObject({
    mistake: { code: 'invalid_arguments', path: '/code' },
    text: 'The code must be a whole number.',
  });
  expect(outcome).toEqual({ kind: 'truncated', reason: 'max_turns' });
  expect(steps).toHaveLength(12);
  expect(rewards).toMatchObject({ opened: 0 });
});

test('follows the rules of the toolenv spec', async () => {
  await assertConforms(checkEnv(safe));
}, 60_000);
