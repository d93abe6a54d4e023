/** Clients of MCP 2026-07-28, which have no session: their program opens an episode, and each call names it. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { defineToolEnv, type EnvHandle, openEnv, text } from '@toolenv/core';
import { connectMcp, type HttpOptions, type McpService, serveMcp } from '@toolenv/mcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { doors, openDoors } from '../../test/door-env.ts';
import { doorServer } from '../../test/servers.ts';

const open: { close(): Promise<unknown> }[] = [];
const errors: unknown[] = [];
let env: EnvHandle<string>;
beforeEach(async () => {
  env = await openEnv(doors);
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
  await env.close();
  expect(errors.splice(0)).toEqual([]);
});

const patience = { timeout: 30_000 };

async function serve(options: HttpOptions = {}, concurrent = true): Promise<string> {
  const served = { ...env, capabilities: { concurrent } };
  const onError = (error: unknown) => void errors.push(error);
  const service: McpService = await serveMcp(served, { transport: { type: 'http', ...options }, onError });
  open.push(service);
  return service.url!;
}

async function connect(to: string | StdioClientTransport): Promise<Player> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(typeof to === 'string' ? new StreamableHTTPClientTransport(new URL(to)) : to);
  open.push(client);
  return new Player(client);
}

class Player {
  readonly client: Client;
  handle = '';

  constructor(client: Client) {
    this.client = client;
  }

  /** Opens an episode. Returns its conversation. */
  async open(): Promise<string[]> {
    const { messages, _meta } = await this.client.getPrompt({ name: 'open' });
    this.handle = String(_meta!['toolenv/episode']);
    return messages.map(({ content }) => (content as { text: string }).text);
  }

  call(name: string, args = {}, options = {}) {
    return this.client.callTool({ name, arguments: { episode: this.handle, ...args } }, options);
  }

  /** The first text of the result. */
  async say(name: string, args = {}): Promise<string> {
    const { content } = await this.call(name, args);
    return (content[0] as { text: string }).text;
  }

  async names(): Promise<string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }
}

const over = (handle: string) => `There is no episode "${handle}", or it has ended.`;

describe.each([
  ['Streamable HTTP', async () => connect(await serve())],
  ['stdio', async () => connect(new StdioClientTransport(doorServer))],
])('a client over %s', (way, begin) => {
  test('opens an episode, and names it with each call', async () => {
    const player = await begin();
    const { client } = player;
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect(client.getInstructions()).toContain('"open"');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['knock', 'wait', 'collapse', 'answer']);
    expect(tools[0]!.inputSchema).toMatchObject({
      properties: { episode: { type: 'string' }, force: { type: 'integer' } },
      required: ['episode'],
    });
    expect(tools[3]!.inputSchema.required).toEqual(['episode', 'text']);
    const begun = await player.open();
    expect(begun).toEqual([
      'You stand before a door.',
      'What is in room cat?',
      `The handle of your episode is "${player.handle}". Give it as "episode" with each call of a tool.`,
    ]);
    expect(await player.say('knock')).toBe('The door opens.');
    expect((await player.call('look')).structuredContent).toEqual({ thing: 'cat' });
    // Other calls may not change the list.
    expect(await player.names()).not.toContain('look');
    const observation = { name: 'observation', arguments: { episode: player.handle } };
    expect((await client.getPrompt(observation)).messages).toHaveLength(6);
    expect(await player.call('knock', { force: 'much' })).toMatchObject({ isError: true });
    expect(await player.say('answer', { text: 'cat' })).toBe('The episode has ended.');
    expect(await player.call('knock')).toMatchObject({
      isError: true,
      content: [{ text: over(player.handle) }],
    });
    await expect(client.getPrompt(observation)).rejects.toThrow(over(player.handle));
  });

  test('plays several episodes at once, each with a task of its own', async () => {
    const player = await begin();
    const handles: string[] = [];
    for (const room of ['cat', 'lamp', 'sea']) {
      expect(await player.open()).toContain(`What is in room ${room}?`);
      handles.push(player.handle);
    }
    expect(new Set(handles).size).toBe(3);
    const looked = handles.map(async (episode) => {
      await player.call('knock', { episode });
      return (await player.call('look', { episode })).structuredContent;
    });
    expect(await Promise.all(looked)).toEqual([{ thing: 'cat' }, { thing: 'lamp' }, { thing: 'sea' }]);
  });

  test('is told what is wrong with its handle', async () => {
    const player = await begin();
    expect(await player.say('knock', { episode: undefined })).toBe(
      'episode: expected the handle of an episode; the prompt "open" opens one.',
    );
    // Any JSON may come, also what no text can be made of.
    expect(await player.say('knock', { episode: { toString: 1 } })).toBe(
      'episode: expected the handle of an episode; the prompt "open" opens one.',
    );
    expect(await player.say('knock', { episode: 'none' })).toBe(over('none'));
    await expect(player.client.getPrompt({ name: 'elsewhere' })).rejects.toMatchObject({ code: -32602 });
  });

  test('gets an infrastructure fault as a protocol error, after which the episode is over', async () => {
    const player = await begin();
    await player.open();
    await expect(player.call('collapse')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('(infrastructure.quake)'),
    });
    // The other server is a process, and writes to its stderr.
    const causes = way === 'stdio' ? [] : [{ message: 'The house fell.' }];
    expect(errors.splice(0)).toMatchObject(causes);
    expect(await player.say('knock')).toBe(over(player.handle));
  });

  test('ends its episode by cancelling a call', async () => {
    const player = await begin();
    await player.open();
    await expect(player.call('wait', {}, { signal: AbortSignal.timeout(300) })).rejects.toThrow();
    await expect.poll(() => player.say('knock'), patience).toBe(over(player.handle));
  });
});

test('a client of MCP 2025-11-25 has its session at the same address', async () => {
  const url = await serve();
  const player = await connect(url);
  await player.open();
  const connection = await connectMcp({ url }, { initialize: true });
  open.push(connection);
  expect(connection.protocolVersion).toBe('2025-11-25');
  expect(connection.tools[0]!.inputSchema.properties).not.toHaveProperty('episode');
  expect(await player.say('knock')).toBe('The door opens.');
  expect(openDoors.size).toBe(2);
});

describe('a place', () => {
  test('is free when its episode has ended, and others are refused before', async () => {
    const player = await connect(await serve({}, false));
    // The tools are read in an episode of their own, which leaves.
    expect(await player.names()).toContain('knock');
    expect(openDoors.size).toBe(0);
    for (const room of ['cat', 'lamp']) {
      expect(await player.open()).toContain(`What is in room ${room}?`);
      await expect(player.client.getPrompt({ name: 'open' })).rejects.toThrow('one client at a time');
      await player.say('answer', { text: room });
    }
    expect(openDoors.size).toBe(0);
  });

  test('is shared with sessions', async () => {
    const url = await serve({ maxSessions: 2 });
    const player = await connect(url);
    await player.open();
    open.push(await connectMcp({ url }, { initialize: true }));
    await expect(player.client.getPrompt({ name: 'open' })).rejects.toThrow('at most 2 clients');
    await expect(connectMcp({ url }, { initialize: true })).rejects.toThrow('at most 2 clients');
  });

  test('of an idle episode is freed', async () => {
    const player = await connect(await serve({ idleTimeout: 300 }));
    await player.open();
    expect(openDoors.size).toBe(1);
    await expect.poll(() => openDoors.size, patience).toBe(0);
    expect(await player.say('knock')).toBe(over(player.handle));
  });

  test('of an episode with a call in flight is kept', async () => {
    const player = await connect(await serve({ idleTimeout: 300 }));
    await player.open();
    const waiting = player.call('wait', {}, { signal: AbortSignal.timeout(1_300) });
    waiting.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 900));
    expect(openDoors.size).toBe(1);
    await expect(waiting).rejects.toThrow();
    await expect.poll(() => openDoors.size, patience).toBe(0);
  });

  test('of a silent episode is given to a client that was refused', async () => {
    const url = await serve({ silenceTimeout: 300 }, false);
    const silent = await connect(url);
    await silent.open();
    const player = await connect(url);
    const opened = () => player.open().then(() => true).catch(() => false); // biome-ignore format: short
    await expect.poll(opened, patience).toBe(true);
    expect(await player.say('knock')).toBe('The door opens.');
    expect(await silent.say('knock')).toBe(over(silent.handle));
  });

  test('of a client that vanishes in a call is freed', async () => {
    const url = await serve();
    const player = await connect(url);
    await player.open();
    const waiting = player.call('wait');
    waiting.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 300));
    await player.client.close();
    await expect.poll(() => openDoors.size, patience).toBe(0);
  });
});

test('closing the service ends calls and episodes', async () => {
  const player = await connect(await serve());
  await player.open();
  const waiting = player.call('wait');
  const failed = expect(waiting).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await open[0]!.close();
  await failed;
  expect(openDoors.size).toBe(0);
});

test('a tool may not have the parameter of the handle', async () => {
  const inputSchema = { type: 'object', properties: { episode: { type: 'string' } } };
  const watch = { name: 'watch', description: 'watch', inputSchema, execute: async () => text('seen') };
  const series = defineToolEnv({
    name: 'series-v1',
    description: 'A series.',
    rewards: { right: { kind: 'outcome' } },
    limits: { maxTurns: 2 },
    tasks: { test: ['one'] },
    episode: () => ({ messages: 'Watch.', tools: () => [watch], onAnswer: () => ({ end: 'answered' }) }),
  });
  env = (await openEnv(series)) as EnvHandle<string>;
  const player = await connect(await serve());
  await expect(player.open()).rejects.toThrow('see the log');
  expect(errors.splice(0)).toMatchObject([{ code: 'usage.mcp_tool_parameter' }]);
});
