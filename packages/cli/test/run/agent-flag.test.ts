import { harnesses } from '@toolenv/harnesses';
import { expect, test } from 'vitest';
import { agentFlags } from '../../src/run/open-run.ts';

test('the help of --agent names every agent', () => {
  const names = harnesses.map(({ name }) => name);
  expect(agentFlags()[0]!.description).toContain(`${names.slice(0, -1).join(', ')} or ${names.at(-1)},`);
});
