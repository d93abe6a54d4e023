/** The example of an environment without tools is short and works. */
import { collect, openEnv, rollout, scriptedPolicy } from '@toolenv/core';
import { assertConforms, checkEnv } from '@toolenv/testing';
import { expect, test } from 'vitest';
import wordle from '../../examples/wordle.ts';

test('marks guesses and rewards the word', async () => {
  const env = await openEnv(wordle);
  const [played] = await collect(
    rollout({
      env,
      policy: scriptedPolicy(['allow', 'lemons', 'label', ' Lemon\n']),
      episodes: [{ task: 'lemon', group: 0, sample: 0 }],
      concurrency: 1,
      sampling: { maxTokens: 64, temperature: 1 },
      seed: 1,
    }),
  );
  await env.close();
  const { steps, reward } = played!;
  expect(steps.slice(1).map(({ observation }) => observation.messages.at(-1)!.content)).toEqual([
    '-Y-G-',
    'Answer with a word of five letters.',
    'G--Y-',
  ]);
  expect(reward).toBe(1);
});

test('follows the rules of the toolenv spec', async () => {
  const { skipped } = await assertConforms(checkEnv(wordle));
  // Without tools, none can fail or hang.
  expect(skipped.map(({ rule }) => rule)).toEqual(['ENV-30', 'ENV-31']);
}, 60_000);
