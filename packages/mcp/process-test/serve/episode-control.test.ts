/**
 * The orchestrator of an environment over HTTP, and an agent that tries to do what only the orchestrator may. Agents are clients
 * with a session (MCP 2025-11-25), and without (2026-07-28).
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type EnvHandle, openEnv } from '@toolenv/core';
import { connectMcp, type HttpOptions, type McpService, type ScoreRecord, serveMcp } from '@toolenv/mcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { doors, openDoors } from '../../test/door-env.ts';
import { context } from '../../test/servers.ts';

const controlToken = 'only-the-orchestrator-knows-this';

let env: EnvHandle<string>;
let service: McpService;
let folder: string;
let scores: string;
const open: { close(): Promise<unknown> }[] = [];
beforeEach(async () => {
  env = await openEnv(doors);
  folder = await mkdtemp(join(tmpdir(), 'toolenv-mcp-'));
  scores = join(folder, 'scores.jsonl');
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
  await service.close();
  await env.close();
  await rm(folder, { recursive: true });
});

async function serve(options: HttpOptions = {}) {
  service = await serveMcp(env, { transport: { type: 'http', controlToken, ...options }, scores });
}

interface Answer {
  episode: string;
  url: string;
  messages: { role: string; content: string }[];
}

async function control(method: string, path = '', body?: object, token = controlToken) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const url = new URL(`/episodes${path}`, service.url);
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, body: (await response.json()) as Answer };
}

/** @param initialize Whether the agent has a session. */
async function play(url: string, initialize = false) {
  const connection = await connectMcp({ url }, { initialize });
  expect(connection.protocolVersion).toBe(initialize ? '2025-11-25' : '2026-07-28');
  open.push(connection);
  return (name: string, args = {}) =>
    connection.tools.find((tool) => tool.name === name)!.execute(args, context());
}

async function records(): Promise<ScoreRecord[]> {
  const text = await readFile(scores, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

test('the orchestrator answers for an agent that has said its answer, once', async () => {
  await serve();
  const { body: episode } = await control('POST', '', { task: 1, seed: 7 });
  const path = `/${episode.episode}`;
  expect(await control('POST', path, { text: 'gold' })).toMatchObject({ status: 400 });
  const { status, body } = await control('POST', path, { answer: 'nothing' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ outcome: { kind: 'terminated' }, turns: 1 });
  expect((await control('POST', path, { answer: 'another' })).body).toEqual(body);
  expect((await control('POST', path, { answer: 'x' }, 'another-token')).status).toBe(401);
});

const eras = [
  ['with a session', true],
  ['without a session', false],
] as const;

describe.each(eras)('the orchestrator of an agent %s', (_, initialize) => {
  test('chooses the task, gives its agent the URL, and reads the rewards', async () => {
    await serve();
    const { status, body: episode } = await control('POST', '', { task: 1, seed: 7 });
    expect(status).toBe(201);
    expect(episode).toMatchObject({ task: 1, seed: 7 });
    expect(episode.messages.at(-1)).toEqual({ role: 'user', content: 'What is in room lamp?' });
    const call = await play(episode.url, initialize);
    await call('knock');
    expect((await control('GET', `/${episode.episode}`)).body).toMatchObject({
      outcome: { kind: 'running' },
      rewards: { knocked: 1, right: null },
      reward: 0.1,
      turns: 1,
    });
    await call('answer', { text: 'lamp' });
    const score = {
      episode: episode.episode,
      env: 'door-v1',
      task: 1,
      seed: 7,
      outcome: { kind: 'terminated', reason: 'answered' },
      rewards: { knocked: 1, right: 1 },
      reward: 1.1,
      turns: 2,
    };
    expect((await control('DELETE', `/${episode.episode}`)).body).toMatchObject(score);
    expect((await control('GET', `/${episode.episode}`)).status).toBe(404);
    await expect.poll(records).toMatchObject([score]);
    expect(openDoors.size).toBe(0);
  });

  test('records an abandoned episode, and the fault of an aborted one, once each', async () => {
    await serve();
    const { body: left } = await control('POST', '', { task: 0 });
    await control('DELETE', `/${left.episode}`);
    const { body: fallen } = await control('POST', '', { task: 2 });
    const call = await play(fallen.url, initialize);
    await call('collapse');
    await call('knock');
    await control('DELETE', `/${fallen.episode}`);
    await expect.poll(records).toHaveLength(2);
    const [first, second] = await records();
    expect(first).toMatchObject({ task: 0, outcome: { kind: 'cancelled' }, turns: 0 });
    expect(second).toMatchObject({ task: 2, outcome: { kind: 'aborted', code: 'infrastructure.quake' } });
    expect(second).not.toHaveProperty('rewards');
  });

  test('gives it a URL at which it learns that the tools change', async () => {
    await serve();
    const { body: episode } = await control('POST', '', {});
    const lists: string[][] = [];
    const onToolsChanged = (tools: readonly { name: string }[]) => lists.push(tools.map(({ name }) => name));
    const connection = await connectMcp({ url: episode.url }, { initialize, onToolsChanged });
    open.push(connection);
    const tools = ['knock', 'wait', 'collapse', 'answer'];
    expect(connection.tools.map(({ name }) => name)).toEqual(tools);
    await connection.tools[0]!.execute({}, context());
    await expect
      .poll(() => lists, { timeout: 30_000 })
      .toEqual([['knock', 'wait', 'collapse', 'look', 'answer']]);
  });

  test('is told what is wrong with its requests', async () => {
    await serve({ maxSessions: 1 });
    // A request without a body opens the next episode.
    const { status, body: first } = await control('POST');
    expect(status).toBe(201);
    await control('DELETE', `/${first.episode}`);
    expect((await control('POST', '', { task: 3 })).body).toEqual({
      error: 'There is no task 3: choose one below 3.',
    });
    expect((await control('POST', '', { tusk: 1 })).status).toBe(400);
    expect((await control('POST', '', {})).status).toBe(201);
    expect((await control('POST', '', {})).status).toBe(503);
    expect((await control('GET')).status).toBe(405);
    expect((await control('GET', '/none')).status).toBe(404);
  });

  test('has another token than the agents', async () => {
    const transport = { type: 'http' as const, token: controlToken, controlToken };
    await expect(serveMcp(env, { transport })).rejects.toMatchObject({ code: 'usage.serve_token' });
    await serve();
  });

  test('loses an episode that nobody plays', async () => {
    await serve({ idleTimeout: 300 });
    await control('POST', '', {});
    expect(openDoors.size).toBe(1);
    await expect.poll(() => openDoors.size, { timeout: 30_000 }).toBe(0);
    await expect.poll(records).toMatchObject([{ outcome: { kind: 'cancelled' } }]);
  });

  test('gives the place of an agent that connects again to the new client', async () => {
    await serve();
    const { body: episode } = await control('POST', '', { task: 0 });
    await (await play(episode.url, initialize))('knock');
    const call = await play(episode.url, initialize);
    expect(await call('look')).toMatchObject({ structuredContent: { thing: 'cat' } });
    expect((await control('GET', `/${episode.episode}`)).body).toMatchObject({ turns: 2 });
  });
});

/** An agent that tries what it can, at its endpoint. */
class Agent {
  readonly #client: Client;
  readonly #seen: unknown[] = [];
  /** The argument that names its episode, if the endpoint is not that of one episode. */
  #named = {};

  constructor(initialize: boolean) {
    const versionNegotiation = { mode: initialize ? ('legacy' as const) : ('auto' as const) };
    this.#client = new Client({ name: 'agent', version: '1' }, { versionNegotiation });
  }

  /** @param opens Whether its program gives it an episode first. */
  async connect(url: string, opens = false): Promise<void> {
    await this.#client.connect(new StreamableHTTPClientTransport(new URL(url)));
    open.push(this.#client);
    const { instructions, version, capabilities } = {
      instructions: this.#client.getInstructions(),
      version: this.#client.getServerVersion(),
      capabilities: this.#client.getServerCapabilities(),
    };
    this.#seen.push(instructions, version, capabilities);
    if (!opens) return;
    const opened = await this.#client.getPrompt({ name: 'open' });
    this.#seen.push(opened);
    this.#named = { episode: opened._meta!['toolenv/episode'] };
  }

  /** Everything that it has read, as text. */
  get read(): string {
    return JSON.stringify(this.#seen);
  }

  async attempt(asked: Promise<unknown>): Promise<void> {
    this.#seen.push(await asked.catch((error: Error) => ({ ...error, message: error.message })));
  }

  call(name: string, args: object): Promise<void> {
    const given = { ...this.#named, ...args };
    return this.attempt(this.#client.callTool({ name, arguments: given }, { timeout: 2_000 }));
  }

  observe(): Promise<void> {
    return this.attempt(this.#client.getPrompt({ name: 'observation', arguments: this.#named }));
  }

  async tools(): Promise<string[]> {
    const { tools } = await this.#client.listTools();
    this.#seen.push(tools);
    return tools.map(({ name }) => name).filter((name) => name !== 'wait' && name !== 'collapse');
  }

  async tryEverything(): Promise<void> {
    await this.attempt(this.#client.listPrompts());
    await this.observe();
    const arguments_ = [{}, { task: 2 }, { task: 2, seed: 1 }, { seed: 9 }, { text: 'sea' }, { force: 1 }];
    const handles = [{ episode: 'none' }, { episode: '' }, { episode: 2 }];
    const hidden = ['episode_reset', 'episode_answer', 'open', 'open_episode', 'reset', 'state', 'label'];
    // Two of its five turns.
    for (const name of hidden.slice(0, 2)) await this.call(name, { task: 2 });
    const offered = await this.tools();
    expect(offered).toEqual(['knock', 'answer']);
    await this.call('knock', {});
    await this.observe();
    for (const args of [...handles, ...arguments_]) await this.call('answer', args);
    for (const name of [...offered, ...hidden])
      for (const args of [...handles, ...arguments_]) await this.call(name, args);
    await this.observe();
  }
}

/** Its own task is `lamp`. */
function expectIgnorance(read: string): void {
  // It reads its own task, and nothing of another.
  expect(read).toContain('What is in room lamp?');
  expect(read).not.toMatch(/room (cat|sea)/);
  // No reward, outcome, task index or seed, under any name. Its wrong answer looks like a right one.
  expect(read).not.toMatch(/reward|outcome|terminated|truncated|answered|"right"|"knocked"|"task"|"seed"/i);
}

describe.each(eras)('an agent %s', (_, initialize) => {
  test('learns neither its reward nor its label nor another task from its endpoint, and cannot leave it', async () => {
    await serve();
    const { body: mine } = await control('POST', '', { task: 1, seed: 5 });
    const { body: other } = await control('POST', '', { task: 2 });
    const agent = new Agent(initialize);
    await agent.connect(mine.url);
    await agent.tryEverything();
    expectIgnorance(agent.read);
    // The orchestrator's endpoint and other episodes are closed to it.
    const handle = new URL(mine.url).pathname.split('/').at(-1);
    expect((await control('GET', `/${handle}`, undefined, 'a-guess-of-the-secret')).status).toBe(401);
    expect((await control('POST', '', { task: 0 }, 'a-guess-of-the-secret')).status).toBe(401);
    for (const path of ['/mcp', '/mcp/', `/mcp/${handle}x`, '/', '/scores']) {
      await expect(connectMcp({ url: new URL(path, mine.url).href })).rejects.toMatchObject({
        code: 'infrastructure.mcp_connect',
      });
    }
    // Connecting again gives the same episode, which is over.
    expect(await (await play(mine.url, initialize))('answer', { text: 'lamp' })).toMatchObject({
      content: [{ type: 'text', text: 'The episode has ended.' }],
      isError: true,
    });
    expect((await control('GET', `/${handle}`)).body).toMatchObject({
      task: 1,
      seed: 5,
      rewards: { right: 0 },
    });
    expect((await control('GET', `/${other.episode}`)).body).toMatchObject({ turns: 0 });
  }, 60_000);

  test('cannot tell a right answer from a wrong one', async () => {
    await serve();
    const ends = [];
    for (const text of ['cat', 'dog']) {
      const { body: episode } = await control('POST', '', { task: 0 });
      const call = await play(episode.url, initialize);
      ends.push([await call('answer', { text }), await call('knock')]);
    }
    expect(ends[0]).toEqual(ends[1]);
    await expect.poll(records).toMatchObject([{ reward: 1 }, { reward: 0 }]);
  });

  test('without an orchestrator plays one task, of which it learns no more; its score is recorded', async () => {
    await serve({ controlToken: undefined });
    // Takes the first task, so that the agent gets the second.
    const first = new Agent(initialize);
    await first.connect(service.url!, !initialize);
    await first.call('answer', { text: 'cat' });
    const agent = new Agent(initialize);
    await agent.connect(service.url!, !initialize);
    await agent.tryEverything();
    expectIgnorance(agent.read);
    await expect.poll(records).toMatchObject([
      { task: 0, reward: 1 },
      { task: 1, rewards: { right: 0 } },
    ]);
  }, 60_000);
});

describe('the URL of an episode', () => {
  test('begins with the public URL of the server', async () => {
    await serve({ publicUrl: 'https://envs.example/doors/' });
    const { body } = await control('POST');
    expect(body.url).toBe(`https://envs.example/doors/mcp/${body.episode}`);
  });

  test('has the host that the orchestrator named, where the server listens on all addresses', async () => {
    await serve({ host: '0.0.0.0', token: 'a-token-of-at-least-16-characters' });
    const { port } = new URL(service.url!);
    const response = await fetch(`http://localhost:${port}/episodes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${controlToken}` },
    });
    const { url, episode } = (await response.json()) as Answer;
    expect(url).toBe(`http://localhost:${port}/mcp/${episode}`);
  });

  test('cannot begin with anything but a URL', async () => {
    await serve();
    await expect(serve({ publicUrl: 'envs.example' })).rejects.toMatchObject({ code: 'usage.serve_host' });
  });
});
