import { harnesses } from '@toolenv/harnesses';
import { expect, test } from 'vitest';
import { agentFlags, openRunEnv } from '../../src/run/open-run.ts';

test('the help of --agent names every agent', () => {
  const names = harnesses.map(({ name }) => name);
  expect(agentFlags()[0]!.description).toContain(`${names.slice(0, -1).join(', ')} or ${names.at(-1)},`);
});

test.each([
  [{ agentTurns: 3 }, '--agent-turns'],
  [{ agentConfine: true }, '--agent-confine'],
])('%j without an agent is refused', async (flags, name) => {
  const source = '@toolenv/envs-classic/arithmetic-v1';
  await expect(openRunEnv({ source, options: {} }, { ...flags, seed: 1 })).rejects.toMatchObject({
    code: 'usage.bad_flag',
    message: `${name} needs --agent: name the agent.`,
  });
});
