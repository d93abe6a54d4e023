/** The example of an environment without tools is short and works. */
import { openEnv, playTask } from '@toolenv/core';
import { assertConforms, checkEnv } from '@toolenv/testing';
import { expect, test } from 'vitest';
import wordle from '../../examples/wordle.ts';

test('marks guesses and rewards the word', async () => {
  await using env = await openEnv(wordle);
  const { steps, reward } = await playTask(env, 'lemon', ['allow', 'lemons', 'label', ' Lemon\n']);
  expect(steps.slice(1).map(({ observation }) => observation.messages.at(-1)!.content)).toEqual([
    '-Y-G-',
    'Answer with a word of five letters.',
    'G--Y-',
  ]);
  expect(reward).toBe(1);
});

test('follows the rules of the toolenv spec', async () => {
  const { skipped } = await assertConforms(checkEnv(wordle, { actions: 200 }));
  // Without tools, none can fail or hang.
  expect(skipped.map(({ rule }) => rule)).toEqual(['ENV-30', 'ENV-31']);
}, 60_000);
