/** `toolenv serve`, with the SDK's own client. */
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, it } from 'vitest';
import { fixture, runCli, startCli } from '../run-cli.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

it('serves over stdio until the client leaves', async () => {
  const args = ['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source', main, 'serve'];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args, fixture.env],
    cwd: fixture.folder,
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  expect(client.getServerVersion()).toMatchObject({ name: fixture.env, version: '1.2.3' });
  const begun = await client.callTool({ name: 'episode_reset', arguments: {} });
  expect(begun.structuredContent).toMatchObject({ task: 0 });
  await client.close();
});

it('serves over HTTP until Ctrl-C, with exit code 130', async () => {
  const { child, finished } = startCli(['serve', fixture.env, '--http', '0']);
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const [, url] = /^fixture-plugin\/lamp-v1 is served at (http:\/\/127\.0\.0\.1:\d+\/mcp)\n$/.exec(line)!;
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url!)));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['episode_reset', 'episode_answer']));
  child.kill('SIGINT');
  const { code, stdout } = await finished;
  expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  await client.close();
});

it('refuses a wrong port in one line', async () => {
  const { code, stderr } = await runCli('serve', fixture.env, '--http', '70000');
  expect(code).toBe(2);
  expect(stderr).toMatch(/^toolenv: --http.*\n$/);
});
