/** openEnv says which tools fill the roles, so that a run can be told from another run with other tools. */
import { expect, test } from 'vitest';
import { defineEnv, openEnv, type Tool, text } from '../../src/index.ts';

const press: Tool = { name: 'press', description: '', inputSchema: {}, execute: async () => text('click') };

const definition = defineEnv({
  name: 'roles',
  description: 'Has roles.',
  options: { type: 'object', properties: {} },
  rewards: {},
  limits: { maxTurns: 1, maxCallsPerTurn: 1, toolTimeout: 1, maxToolCharacters: 1 },
  roles: { search: '@toolenv/tools-search/search-v1', press: 'no-such-package/press-v1' },
  open: async () => ({
    tasks: { train: [], validation: [], test: [] } as never,
    episode: () => ({}) as never,
    close: async () => {},
  }),
});

test('the tools of an open environment are references and names', async () => {
  const plugin = { name: 'button', create: async () => press };
  const makePress = async () => press;
  const open = async (tool: object) => {
    const search = async () => press;
    const env = await openEnv(definition, {}, { tools: { search, press: tool as never } });
    return env.tools;
  };
  expect(await open(makePress)).toEqual({ search: 'search', press: 'makePress' });
  expect(await open(plugin)).toEqual({ search: 'search', press: 'button' });
  const byReference = await openEnv(definition, {}, { tools: { press: makePress } });
  expect(byReference.tools.search).toBe('@toolenv/tools-search/search-v1');
});
