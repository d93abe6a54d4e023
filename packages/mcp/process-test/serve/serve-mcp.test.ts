import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { type CallToolResult, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { defineTool, defineToolEnv, type EnvHandle, openEnv, type ToolEnvError } from '@toolenv/core';
import { registerSecret } from '@toolenv/core/secrets';
import {
  connectMcp,
  defineMcpEnv,
  type McpService,
  openMcpPool,
  type ServeOptions,
  serveMcp,
} from '@toolenv/mcp';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { doors, openDoors } from '../../test/door-env.ts';
import { duels, expectRefusal } from '../../test/duel-env.ts';
import { badServer, context, doorServer, groupLives, realServer } from '../../test/servers.ts';

let env: EnvHandle<string>;
const services: McpService[] = [];
beforeEach(async () => {
  env = await openEnv(doors);
});
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
  await env.close();
});

async function serve(options: ServeOptions): Promise<McpService> {
  const service = await serveMcp(env, options);
  services.push(service);
  return service;
}

async function pair(options: ServeOptions = {}): Promise<Client> {
  const [here, there] = InMemoryTransport.createLinkedPair();
  await serve({ ...options, transport: there });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(here);
  return client;
}

async function call(client: Client, name: string, args = {}, options = {}): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: args }, undefined, options)) as CallToolResult;
}

const textOf = ({ content }: CallToolResult) => (content[0] as { text: string }).text;

test('over stdio, an integer that a number would round is a mistake of the model that names the limit', async () => {
  const { command, args } = doorServer;
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void server.kill('SIGKILL'));
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: string) => {
    server.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`);
    for (;;) {
      const { value } = await lines.next();
      if (JSON.parse(value).id === id) return value as string;
    }
  };
  const client = '"capabilities":{},"clientInfo":{"name":"raw","version":"1"}';
  await ask(1, 'initialize', `{"protocolVersion":"2025-11-25",${client}}`);
  server.stdin.write('no message\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  expect(await ask(2, 'tools/call', '{"name":"knock","arguments":{"force":2512292042121000001}}')).toMatch(
    /the integer 2512292042121000001.* within ±9007199254740991.*"isError":true/,
  );
  expect(await ask(3, 'tools/call', '{"name":"knock","arguments":{"force":1}}')).toContain('The door opens.');
  const left = once(server, 'exit');
  server.stdin.end();
  expect(await left).toEqual([0, null]);
});

describe('the SDK’s client plays an episode', () => {
  test('from its task to its end', async () => {
    const client = await pair();
    expect(client.getServerVersion()).toMatchObject({ name: 'door-v1' });
    expect(client.getInstructions()).toContain('observation');
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names()).toEqual(['knock', 'wait', 'collapse', 'answer']);

    const begun = await client.getPrompt({ name: 'observation' });
    expect(begun.messages.map(({ content }) => (content as { text: string }).text)).toEqual([
      'You stand before a door.',
      'What is in room cat?',
    ]);

    const knocked = await call(client, 'knock');
    expect(knocked.content).toEqual([{ type: 'text', text: 'The door opens.' }]);
    expect(await names()).toContain('look');
    expect(changes).toBe(1);

    const looked = await call(client, 'look');
    expect(looked.content).toEqual([
      { type: 'text', text: 'a cat\n[image]' },
      { type: 'image', data: 'iVBORw==', mimeType: 'image/png' },
    ]);
    expect(looked.structuredContent).toEqual({ thing: 'cat' });

    const answered = await call(client, 'answer', { text: 'cat' });
    expect(answered).toEqual({ content: [{ type: 'text', text: 'The episode has ended.' }] });

    expect(await call(client, 'knock')).toMatchObject({ isError: true });
    const { messages } = await client.getPrompt({ name: 'observation' });
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    await client.close();
    await expect.poll(() => openDoors.size).toBe(0);
  });

  test('and gets the model’s mistakes as results', async () => {
    const client = await pair();
    const wrong = await call(client, 'knock', { force: 'much' });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toMatch(/invalid_arguments.*\/force/);
    const unknown = await call(client, 'knokc');
    expect(unknown.isError).toBe(true);
    expect(textOf(unknown)).toContain('Did you mean "knock"?');
    const answer = await call(client, 'answer', { words: 'cat' });
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toContain('text');
    await client.close();
  });

  test('until the turn limit ends it, as the result says', async () => {
    const client = await pair();
    for (let turn = 0; turn < 4; turn++) await call(client, 'knock');
    const last = await call(client, 'knock');
    expect(last.content[1]).toEqual({ type: 'text', text: 'The episode has ended.' });
    await client.close();
  });

  test('and gets the code of an infrastructure fault as a protocol error, after which the episode is over', async () => {
    const causes: unknown[] = [];
    const client = await pair({ onError: (error) => causes.push(error) });
    await expect(call(client, 'collapse')).rejects.toMatchObject({
      code: -32603,
      message: 'MCP error -32603: The episode was aborted (infrastructure.quake): see the log of its server.',
      data: { code: 'infrastructure.quake' },
    });
    expect(causes).toMatchObject([{ code: 'infrastructure.quake', message: 'The house fell.' }]);
    expect(textOf(await call(client, 'knock'))).toBe('The episode has ended.');
    await client.close();
  });

  test('and learns neither command line nor stderr of an MCP server that it crashes', async () => {
    const { command, args } = badServer;
    const server = {
      command,
      // An empty argument, because this server takes a mode as its first.
      args: [...args!, '', '--api-key', 'sk-four-leaves', '--answer=clover'],
      env: { LUCK_KEY: 'hidden clover' },
    };
    const unlucky = defineMcpEnv({ name: 'luck-v1', server, tasks: [{ prompt: 'Go.', answer: 'clover' }] });
    const open = await openEnv(unlucky);
    const causes: ToolEnvError[] = [];
    const [here, there] = InMemoryTransport.createLinkedPair();
    const onError = (error: unknown) => causes.push(error as ToolEnvError);
    services.push(await serveMcp(open, { transport: there, onError }));
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(here);
    const failure = await call(client, 'crash').catch((error: unknown) => error);
    expect(failure).toMatchObject({ data: { code: 'infrastructure.mcp_closed' } });
    expect(String(failure)).not.toMatch(/clover|leaves|luck|node/);
    // The operator learns the command, and why it failed, without the secrets.
    expect(causes[0]!.message).toContain('--api-key [redacted] --answer=clover');
    expect(causes[0]!.message).toContain('its stderr says: out of luck with [LUCK_KEY]');
    await client.close();
    await services.pop()!.close();
    await open.close();
  });

  test('and does not see the message of a bug, which only onError receives', async () => {
    const bugs: unknown[] = [];
    const client = await pair({ onError: (error) => bugs.push(error) });
    await expect(call(client, 'bug')).rejects.toThrow('see the log of its server');
    expect(bugs).toMatchObject([{ message: 'a secret of the code' }]);
    await client.close();
  });

  test('which a cancelled turn ends', async () => {
    const client = await pair();
    const leave = AbortSignal.timeout(50);
    await expect(call(client, 'wait', {}, { signal: leave })).rejects.toThrow();
    expect(textOf(await call(client, 'knock'))).toBe('The episode has ended.');
    await client.close();
  });

  test('whose concurrent calls become successive turns', async () => {
    const client = await pair();
    const results = await Promise.all([call(client, 'knock'), call(client, 'look'), call(client, 'knock')]);
    expect(results.map(textOf)).toEqual(['The door opens.', 'a cat\n[image]', 'The door opens.']);
    await client.close();
  });
});

test('annotations and titles of an MCP server survive serving', async () => {
  const definition = defineMcpEnv({
    name: 'weather-v1',
    server: realServer('everything'),
    only: ['get-structured-content'],
    tasks: [{ prompt: 'Go.' }],
  });
  const open = await openEnv(definition);
  const [here, there] = InMemoryTransport.createLinkedPair();
  services.push(await serveMcp(open, { transport: there }));
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(here);
  const { tools } = await client.listTools();
  expect(tools[0]).toMatchObject({
    title: 'Get Structured Content Tool',
    annotations: { readOnlyHint: true, openWorldHint: false },
  });
  await client.close();
  await services.pop()!.close();
  await open.close();
});

describe.each(['in memory', 'over Streamable HTTP', 'without a session'])('progress of a tool %s', (way) => {
  test('is passed on, if the client asks for it', async () => {
    const definition = defineMcpEnv({
      name: 'long-v1',
      server: realServer('everything'),
      only: ['trigger-long-running-operation'],
      tasks: [{ prompt: 'Go.' }],
      // The environment's own calls are not the agent's.
      async episode({ call }) {
        await call('trigger-long-running-operation', { duration: 0.05, steps: 1 });
      },
    });
    const open = await openEnv(definition);
    const [here, there] = InMemoryTransport.createLinkedPair();
    const transport = way === 'in memory' ? there : { type: 'http' as const };
    const service = await serveMcp(open, { transport });
    services.push(service);
    const reports: unknown[] = [];
    const name = 'trigger-long-running-operation';
    if (way === 'without a session') {
      const client = new ModernClient(
        { name: 'test', version: '1' },
        { versionNegotiation: { mode: 'auto' } },
      );
      await client.connect(new ModernTransport(new URL(service.url!)));
      const { _meta } = await client.getPrompt({ name: 'open' });
      const args = { duration: 0.2, steps: 2, episode: _meta!['toolenv/episode'] };
      const onprogress = (report: unknown) => void reports.push(report);
      await client.callTool({ name, arguments: args }, { onprogress });
      await client.close();
    } else {
      const client = new Client({ name: 'test', version: '1.0.0' });
      await client.connect(service.url ? new StreamableHTTPClientTransport(new URL(service.url)) : here);
      await call(client, name, { duration: 0.1, steps: 1 });
      const onprogress = (report: unknown) => void reports.push(report);
      await call(client, name, { duration: 0.2, steps: 2 }, { onprogress });
      await client.close();
    }
    expect(reports).toMatchObject([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
    await services.pop()!.close();
    await open.close();
  });
});

test('a client reads nothing of the secrets of the server, whatever a tool repeats', async () => {
  const key = registerSecret('sk-of-the-server');
  const echo = defineTool(`echo`, `Answers for ${key}.`, {}, () => ({
    content: [{ type: 'text', text: `401 for ${key}` }],
    structuredContent: { headers: { authorization: [`Bearer ${key}`] }, status: 401 },
  }));
  const definition = defineToolEnv({
    name: 'echo-v1',
    description: 'Echo.',
    tasks: { test: [`Ask with ${key}.`] },
    rewards: { asked: { kind: 'outcome' } },
    episode: ({ task }) => ({ messages: task, tools: [echo], onAnswer: () => `No, ${key}.` }),
  });
  const open = await openEnv(definition);
  const [here, there] = InMemoryTransport.createLinkedPair();
  services.push(await serveMcp(open, { transport: there }));
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(here);
  expect((await client.listTools()).tools[0]!.description).toBe('Answers for [redacted].');
  expect((await client.getPrompt({ name: 'observation' })).messages[0]!.content).toMatchObject({
    text: 'Ask with [redacted].',
  });
  expect(await call(client, 'echo')).toMatchObject({
    content: [{ type: 'text', text: '401 for [redacted]' }],
    structuredContent: { headers: { authorization: ['Bearer [redacted]'] }, status: 401 },
  });
  expect(textOf(await call(client, 'answer', { text: 'Done.' }))).toBe('No, [redacted].');
  await client.close();
  await open.close();
});

test('a split without tasks is refused', async () => {
  const [, there] = InMemoryTransport.createLinkedPair();
  await expect(serveMcp(env, { transport: there, split: 'train' })).rejects.toMatchObject({
    code: 'usage.serve_no_tasks',
  });
});

test('self-play is refused, and a game against a script is served', async () => {
  const [here, there] = InMemoryTransport.createLinkedPair();
  await using alone = await openEnv(duels);
  await expectRefusal(serveMcp(alone, { transport: there }));
  await using open = await openEnv(duels, { opponent: 'brief' });
  const service = await serveMcp(open, { transport: there });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(here);
  expect(textOf(await call(client, 'answer', { text: 'longer' }))).toBe('The episode has ended.');
  await client.close();
  await service.closed;
});

describe('over stdio', () => {
  test('the SDK’s client plays an episode', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StdioClientTransport(doorServer));
    await call(client, 'knock');
    expect(textOf(await call(client, 'answer', { text: 'cat' }))).toBe('The episode has ended.');
    await client.close();
  });

  test('the process exits when the client leaves', async () => {
    const connection = await connectMcp(doorServer, { closeGrace: 60_000 });
    const start = performance.now();
    await connection.close();
    expect(performance.now() - start).toBeLessThan(30_000);
    expect(groupLives(connection.pid!)).toBe(false);
  });
});

describe('over Streamable HTTP', () => {
  const connect = async (url: string) => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await client.connect(transport);
    return { client, transport };
  };

  test('listens on a free loopback port with a session for each client', async () => {
    const { url } = await serve({ transport: { type: 'http' } });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+\/mcp$/);
    const clients = await Promise.all(Array.from({ length: 20 }, () => connect(url!)));
    const seen = await Promise.all(
      clients.map(async ({ client }) => {
        await call(client, 'knock');
        const { thing } = (await call(client, 'look')).structuredContent as { thing: string };
        await call(client, 'answer', { text: thing });
        return thing;
      }),
    );
    // Clients play the tasks in turn.
    const inTurn = Array.from({ length: 20 }, (_, i) => ['cat', 'lamp', 'sea'][i % 3]!);
    expect(seen.sort()).toEqual(inTurn.sort());
    expect(openDoors.size).toBe(20);
    await Promise.all(clients.map(({ transport }) => transport.terminateSession()));
    await expect.poll(() => openDoors.size).toBe(0);
    await Promise.all(clients.map(({ client }) => client.close()));
  });

  test('works with connectMcp', async () => {
    const { url } = await serve({ transport: { type: 'http' } });
    const connection = await connectMcp({ url: url! }, { initialize: true });
    const knock = connection.tools.find(({ name }) => name === 'knock')!;
    expect(await knock.execute({}, context())).toMatchObject({ content: [{ text: 'The door opens.' }] });
    await connection.close();
    await expect.poll(() => openDoors.size).toBe(0);
  });

  test('works with a pool of sessions, each with its own episode', async () => {
    const { url } = await serve({ transport: { type: 'http' } });
    const pool = await openMcpPool({ url: url! }, { size: 4, lifetime: 'episode', initialize: true });
    const seen = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const lease = await pool.acquire();
        const tool = (name: string) => lease.tools.find((tool) => tool.name === name)!;
        // A session whose door is already open would offer the tool look.
        const fresh = !tool('look');
        const opened = await tool('knock').execute({}, context());
        expect(opened).toMatchObject({ content: [{ text: 'The door opens.' }] });
        await lease.release();
        return fresh;
      }),
    );
    expect(seen).toEqual(Array.from({ length: 12 }, () => true));
    await pool.close();
    await expect.poll(() => openDoors.size).toBe(0);
  });

  test('closes an idle session', async () => {
    const { url } = await serve({ transport: { type: 'http', idleTimeout: 100 } });
    const { client } = await connect(url!);
    await call(client, 'knock');
    await client.close();
    expect(openDoors.size).toBe(1);
    await expect.poll(() => openDoors.size).toBe(0);
  });

  test('refuses more than maxSessions sessions', async () => {
    const { url } = await serve({ transport: { type: 'http', maxSessions: 2 } });
    const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => connect(url!)));
    const open = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    expect(open).toHaveLength(2);
    await expect(connect(url!)).rejects.toThrow('Too many sessions');
    await open[0]!.transport.terminateSession();
    await connect(url!);
  });

  test('serves one session at a time if the environment is not concurrent', async () => {
    env = { ...env, capabilities: { concurrent: false } };
    const { url } = await serve({ transport: { type: 'http' } });
    await connect(url!);
    await expect(connect(url!)).rejects.toThrow('Too many sessions');
  });

  test('close ends sessions and connections', async () => {
    const { url, close, closed } = await serve({ transport: { type: 'http' } });
    const { client } = await connect(url!);
    const waiting = call(client, 'wait');
    waiting.catch(() => {});
    await call(client, 'knock', {}, { timeout: 100 }).catch(() => {});
    await close();
    await closed;
    await expect.poll(() => openDoors.size).toBe(0);
    await expect(fetch(url!)).rejects.toThrow();
    await client.close();
  });

  test('refuses requests that belong to no session', async () => {
    const { url } = await serve({ transport: { type: 'http' } });
    const status = async (path: string, init: RequestInit) => {
      const response = await fetch(new URL(path, url!), init);
      await response.body?.cancel();
      return response.status;
    };
    const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect(await status('/mcp', {})).toBe(400);
    expect(await status('/elsewhere', {})).toBe(404);
    expect(await status('/mcp', { headers: { 'mcp-session-id': 'none' } })).toBe(404);
    expect(await status('/mcp', { method: 'POST', body: ping, headers: json })).toBe(400);
    expect(await status('/mcp', { headers: { origin: 'http://evil.example' } })).toBe(403);
    expect(await status('/mcp', { headers: { origin: 'http://localhost:99' } })).toBe(403);
    expect(openDoors.size).toBe(0);
  });

  test('refuses a port in use', async () => {
    const { url } = await serve({ transport: { type: 'http' } });
    const port = Number(new URL(url!).port);
    await expect(serve({ transport: { type: 'http', port } })).rejects.toMatchObject({
      code: 'usage.serve_port',
    });
  });
});

test('a tool that floods its progress does not flood the client', async () => {
  const flood = defineTool('flood', 'Flood.', {}, (_, { progress }) => {
    for (let i = 1; i <= 100_000; i++) progress?.({ progress: i, message: 'x'.repeat(100_000) });
    return 'done';
  });
  const definition = defineToolEnv({
    name: 'flood-v1',
    description: 'Flood.',
    tasks: { test: ['Flood.'] },
    rewards: { flooded: { kind: 'outcome' } },
    episode: ({ task }) => ({ messages: task, tools: [flood] }),
  });
  const open = await openEnv(definition);
  const [here, there] = InMemoryTransport.createLinkedPair();
  services.push(await serveMcp(open, { transport: there }));
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(here);
  const reports: { progress: number; message?: string }[] = [];
  const onprogress = (report: (typeof reports)[number]) => void reports.push(report);
  expect(textOf(await call(client, 'flood', {}, { onprogress }))).toBe('done');
  expect(reports.length).toBeLessThan(50);
  expect(reports.at(-1)).toEqual({ progress: 100_000, message: `${'x'.repeat(997)}…` });
  await client.close();
  await open.close();
});
