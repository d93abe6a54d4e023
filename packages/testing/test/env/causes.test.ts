/** The hints of findings whose cause is known, and checks that end where an environment no longer answers. */
import { defineTool, defineToolEnv } from '@toolenv/core';
import { checkEnv } from '@toolenv/testing';
import { expect, test } from 'vitest';

const common = {
  name: 'sum-v1',
  description: 'Add.',
  tasks: { train: [1, 2, 3], test: [4, 5] },
  oracle: (task: number) => [[{ name: 'roll', arguments: {} }], String(task)],
  limits: { maxTurns: 3 },
};
const rewards = { right: { kind: 'outcome' as const, score: () => 1 } };

async function hintOf(definition: Parameters<typeof checkEnv>[0]): Promise<string | undefined> {
  const { findings } = await checkEnv(definition, { actions: 5 });
  return findings.find(({ rule }) => rule === 'ENV-11')?.hint;
}

test('state of a module is named as the cause of episodes that differ', async () => {
  let begun = 0;
  const counting = defineToolEnv({
    ...common,
    rewards,
    episode: () => ({ messages: `Episode ${begun++}.` }),
  });
  expect(await hintOf(counting)).toBe(
    'Make all state in episode(), because the next episode finds what a module or a shared object keeps. Draw from context.rng.',
  );
});

test('a tool that answers differently each time, as a tool of a server may, is named', async () => {
  let rolled = 0;
  const roll = defineTool('roll', 'Roll.', {}, () => `It is ${rolled++}.`);
  const rolling = defineToolEnv({
    ...common,
    rewards,
    episode: () => ({ messages: 'Roll.', tools: [roll] }),
  });
  expect(await hintOf(rolling)).toMatch(
    /^The tool "roll" answers differently each time\..* Leave a tool of a server out: name the others in "only"\.$/,
  );
});

test('Math.random keeps its hint', async () => {
  const random = defineToolEnv({ ...common, rewards, episode: () => ({ messages: `${Math.random()}` }) });
  expect(await hintOf(random)).toContain('instead of Math.random');
});

test('a hook that never settles is waited for once', async () => {
  const waiting = defineToolEnv({
    ...common,
    rewards,
    episode: () => ({ messages: 'Wait.', onAnswer: () => new Promise<undefined>(() => {}) }),
  });
  const start = performance.now();
  const { findings, skipped } = await checkEnv(waiting, { actions: 50, timeout: 400 });
  expect(findings.map(({ rule, received }) => [rule, received])).toEqual([
    ['ENV-28', 'nothing within 400 ms'],
  ]);
  expect(skipped.filter(({ reason }) => reason === 'the environment did not answer').length).toBeGreaterThan(
    5,
  );
  // Waiting in every check took 19 timeouts.
  expect(performance.now() - start).toBeLessThan(5 * 400);
});
