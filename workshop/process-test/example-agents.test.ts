/** The agents of examples/agents follow the rules of the spec, and so do their episodes: those whose packages are installed. */
import { assertConforms } from '@toolenv/testing';
import { expect, test } from 'vitest';
import { checkExample, exampleAgents } from '../agents/example-agents.ts';

const files = await exampleAgents();

test('the agent that needs no packages is checked', () => {
  expect(files).toContain('command.ts');
});

test.each(files)('examples/agents/%s', async (file) => {
  const [env, ...episodes] = await checkExample(file, { actions: 200, episodes: 8 });
  await assertConforms(env!);
  expect(env!.warnings).toEqual([]);
  expect(env!.passed.length).toBeGreaterThanOrEqual(35);
  expect(episodes).toHaveLength(8);
  for (const episode of episodes) await assertConforms(episode);
});
