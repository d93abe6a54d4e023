/** `toolenv serve`, with the SDK's own client. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, it } from 'vitest';
import { FrameClient } from '../../../openenv/test/frame-client.ts';
import { fixture } from '../../test/fixture.ts';
import { runCli } from '../../test/run-cli.ts';
import { cli, startCli } from '../../test/start-cli.ts';

it('serves over stdio until the client leaves', async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, 'serve', fixture.env],
    cwd: fixture.folder,
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  expect(client.getServerVersion()).toMatchObject({ name: fixture.env, version: '1.2.3' });
  const { messages } = await client.getPrompt({ name: 'observation' });
  expect(messages.length).toBeGreaterThan(0);
  await client.close();
});

it('serves over HTTP until Ctrl-C, with exit code 130', async () => {
  const { child, finished } = startCli(['serve', fixture.env, '--http', '0']);
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const [, url] = /^fixture-plugin\/lamp-v1 is served at (http:\/\/127\.0\.0\.1:\d+\/mcp)\n$/.exec(line)!;
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url!)));
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toContain('answer');
  expect(names).not.toContain('episode_reset');
  child.kill('SIGINT');
  const { code, stdout } = await finished;
  expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  await client.close();
});

const initialize = {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }),
};

async function statusAt(url: string, token?: string): Promise<number> {
  const authorization: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  const response = await fetch(url, { ...initialize, headers: { ...initialize.headers, ...authorization } });
  await response.body?.cancel();
  return response.status;
}

it('makes a token for an address that other machines reach, and prints it', async () => {
  const { child, finished } = startCli(['serve', fixture.env, '--http', '0', '--host', '0.0.0.0']);
  let printed = '';
  child.stderr!.on('data', (text) => {
    printed += text;
  });
  await expect.poll(() => printed, { timeout: 50_000 }).toContain('Authorization: Bearer ');
  const [, port] = /at http:\/\/0\.0\.0\.0:(\d+)\/mcp\n/.exec(printed)!;
  const [, token] = /Bearer ([0-9a-f]{64})\n/.exec(printed)!;
  const url = `http://127.0.0.1:${port}/mcp`;
  expect(await statusAt(url)).toBe(401);
  expect(await statusAt(url, token)).toBe(200);
  child.kill('SIGINT');
  await finished;
});

it('takes the token from TOOLENV_TOKEN without printing it, and limits from flags', async () => {
  const TOOLENV_TOKEN = 'correct-horse-battery-staple';
  const flags = [
    '--http',
    '0',
    '--max-sessions',
    '1',
    '--idle-timeout',
    '0.5',
    '--allowed-host',
    'localhost',
  ];
  const env = { ...process.env, TOOLENV_TOKEN };
  const { child, finished } = startCli(['serve', fixture.env, ...flags], fixture.folder, env);
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const [, port] = /:(\d+)\/mcp\n/.exec(line)!;
  const url = `http://localhost:${port}/mcp`;
  expect(await statusAt(`http://127.0.0.1:${port}/mcp`, TOOLENV_TOKEN)).toBe(403);
  expect(await statusAt(url)).toBe(401);
  expect(await statusAt(url, TOOLENV_TOKEN)).toBe(200);
  expect(await statusAt(url, TOOLENV_TOKEN)).toBe(503);
  await expect.poll(() => statusAt(url, TOOLENV_TOKEN), { timeout: 50_000 }).toBe(200);
  child.kill('SIGINT');
  expect((await finished).stderr).not.toContain(TOOLENV_TOKEN);
});

it('lets the orchestrator open episodes with TOOLENV_CONTROL_TOKEN, and writes their scores', async () => {
  const TOOLENV_CONTROL_TOKEN = 'only-the-orchestrator-has-it';
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-serve-'));
  const scores = join(folder, 'scores.jsonl');
  const env = { ...process.env, TOOLENV_CONTROL_TOKEN };
  const flags = ['--http', '0', '--scores', scores];
  const { child, finished } = startCli(['serve', fixture.env, ...flags], fixture.folder, env);
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const [, origin] = /(http:\/\/127\.0\.0\.1:\d+)\/mcp\n/.exec(line)!;
  const headers = { authorization: `Bearer ${TOOLENV_CONTROL_TOKEN}`, 'content-type': 'application/json' };
  const open = (authorization: string) =>
    fetch(`${origin}/episodes`, {
      method: 'POST',
      headers: { ...headers, authorization },
      body: '{"task":1}',
    });
  expect((await open('Bearer none')).status).toBe(401);
  const opened = await open(headers.authorization);
  const episode = (await opened.json()) as { episode: string; url: string };
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(episode.url)));
  await client.callTool({ name: 'answer', arguments: { text: 'none' } });
  await client.close();
  child.kill('SIGINT');
  expect((await finished).stderr).not.toContain(TOOLENV_CONTROL_TOKEN);
  const records = (await readFile(scores, 'utf8')).trim().split('\n');
  expect(records.map((record) => JSON.parse(record))).toMatchObject([
    { episode: episode.episode, task: 1, turns: 1, reward: expect.any(Number) },
  ]);
  await rm(folder, { recursive: true });
});

it.each([
  [['--http', '0', '--scores', 'x', '--protocol', 'openenv'], '--scores is for clients of MCP'],
  [['--http', '70000'], '--http'],
  [['--host', '0.0.0.0'], 'give --http <port> too'],
  [['--http', '0', '--idle-timeout', '0'], '--idle-timeout 0: give a number above 0'],
  [['--http', '0', '--max-sessions', '0'], '--max-sessions 0: give a whole number from 1 up'],
  [['--http', '0', '--drain', '5'], '--drain is for clients of OpenEnv and ORS: give --protocol openenv'],
  [['--http', '0', '--token', 'short'], 'The token is not usable'],
])('refuses %j in one line', async (flags, message) => {
  const { code, stderr } = await runCli('serve', fixture.env, ...flags);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^toolenv: .*\n$/);
  expect(stderr).toContain(message);
});

it('serves to clients of OpenEnv, with their token, until Ctrl-C', async () => {
  const token = 'a-token-of-at-least-16-characters';
  const flags = ['--protocol', 'openenv', '--http', '0', '--token', token, '--max-sessions', '1'];
  const { child, finished } = startCli(['serve', fixture.env, ...flags]);
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const [, url] = /^fixture-plugin\/lamp-v1 is served at (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line)!;
  expect((await fetch(`${url}/metadata`)).status).toBe(401);
  const headers = { authorization: `Bearer ${token}` };
  expect(await (await fetch(`${url}/metadata`, { headers })).json()).toMatchObject({ name: fixture.env });
  const reset = await fetch(`${url}/reset`, { method: 'POST', headers, body: '{"task":0}' });
  expect(await reset.json()).toMatchObject({ observation: { task: 0 }, reward: null, done: false });
  child.kill('SIGINT');
  expect(await finished).toMatchObject({ code: 130, stdout: '' });
});

it('serves all splits to clients of ORS, with their token, until Ctrl-C', async () => {
  const token = 'a-token-of-at-least-16-characters';
  const { child, finished } = startCli([
    'serve',
    fixture.env,
    '--protocol',
    'ors',
    '--http',
    '0',
    '--token',
    token,
  ]);
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const [, url] = /^fixture-plugin\/lamp-v1 is served at (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line)!;
  const ask = async (path: string, headers = {}) => (await fetch(`${url}/${path}`, { headers })).json();
  expect(await ask('list_environments')).toHaveProperty('detail');
  expect(await ask('list_environments', { 'x-api-key': token })).toEqual(['lamp-v1']);
  const splits = (await ask('lamp-v1/splits', { 'x-api-key': token })) as { name: string }[];
  expect(splits.map(({ name }) => name)).toContain('train');
  child.kill('SIGINT');
  expect(await finished).toMatchObject({ code: 130, stdout: '' });
});

it('gives open sessions time to end after SIGTERM', async () => {
  const flags = ['--protocol', 'openenv', '--http', '0', '--drain', '50'];
  const { child, finished } = startCli(['serve', fixture.env, ...flags]);
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const [, url] = / is served at (\S+)\n$/.exec(line)!;
  const client = await FrameClient.connect(url!);
  child.kill('SIGTERM');
  await expect.poll(async () => (await fetch(`${url}/health`)).status, { timeout: 50_000 }).toBe(503);
  expect(await client.ask('reset')).toMatchObject({ type: 'observation' });
  client.socket.close();
  expect((await finished).code).toBe(143);
});

it('refuses an option that the protocol does not have', async () => {
  const flags = ['--protocol', 'openenv', '--http', '0', '--reconnect-timeout', '5'];
  const { code, stderr } = await runCli('serve', fixture.env, ...flags);
  expect(code).not.toBe(0);
  expect(stderr).toContain('reconnectTimeout');
});
