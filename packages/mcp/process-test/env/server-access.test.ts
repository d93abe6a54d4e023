/** How an environment reaches its servers: by which protocol, and under which names models call their tools. */
import { join } from 'node:path';
import { openEnv, playTask } from '@toolenv/core';
import { defineMcpEnv, openMcpPool } from '@toolenv/mcp';
import { describe, expect, test } from 'vitest';
import { context } from '../../test/servers.ts';

describe('initialize', () => {
  // It refuses to be initialized.
  const server = {
    command: process.execPath,
    args: [join(import.meta.dirname, '../../test/modern-server.js')],
  };
  const env = (own: object) =>
    defineMcpEnv({ name: 'access-v1', server, tasks: [{ prompt: 'Go.' }], closeGrace: 50, ...own });

  test.each([
    ['the definition', { initialize: true }, {}],
    ['the run', {}, { initialize: true }],
  ])('of %s begins with it', async (_, own, options) => {
    await expect(openEnv(env(own), options)).rejects.toMatchObject({ code: 'infrastructure.mcp_connect' });
  });

  test('of the run replaces that of the definition', async () => {
    const opened = await openEnv(env({ initialize: true }), { initialize: false });
    await opened.close();
  });
});

/** A server whose tools answer with the name that they were called by. */
const odd = (...names: string[]) => ({
  command: process.execPath,
  args: [
    '-e',
    `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) return;
      const serverInfo = { name: 'odd', version: '1' };
      const names = process.argv.filter((each) => !each.startsWith('/'));
      const result = {
        initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
        'tools/list': { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) },
        'tools/call': { content: [{ type: 'text', text: 'you said ' + params?.name }] },
      }[method] ?? {};
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });`,
    ...names,
  ],
});

test('tools are offered under names that models can call, chosen by either name, also with a prefix', async () => {
  const task = { prompt: 'Go.' };
  const env = defineMcpEnv({
    name: 'odd-v1',
    servers: { 'my tools': odd('say "hi"', 'plain', 'other') },
    prefix: true,
    initialize: true,
    only: ['my tools_say "hi"', 'my_tools_plain'],
    tasks: [task],
    async episode({ call, tools }) {
      const { text } = await call('my tools_plain');
      return { messages: `${tools.map(({ name }) => name).join()}: ${text}` };
    },
    rewards: { none: { kind: 'outcome', score: () => 0 } },
  });
  const calls = [{ name: 'my_tools_say_hi_', arguments: {} }];
  const { steps } = await playTask(env, task, [calls, 'done']);
  expect(steps[0]!.observation.messages[0]!.content).toBe('my_tools_say_hi_,my_tools_plain: you said plain');
  expect(steps[0]!.calls[0]!.text).toBe('you said say "hi"');
});

test('servers of a run that differ in their arguments warn once', async () => {
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  const options = { serverPerLease: true, initialize: true, closeGrace: 50, onWarning };
  const pool = await openMcpPool(odd('a b', '/1'), options);
  for (const folder of ['/2', '/3']) {
    const lease = await pool.acquire({ server: odd('a b', folder) });
    await lease.ready();
    expect(await lease.tools[0]!.execute({}, context())).toMatchObject({
      content: [{ type: 'text', text: 'you said a b' }],
    });
    await lease.release();
  }
  await pool.close();
  expect(warnings).toEqual([expect.stringMatching(/"a b" as a_b\.$/)]);
});
