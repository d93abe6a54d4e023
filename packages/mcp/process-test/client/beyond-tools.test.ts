/** What servers offer beside tools: instructions, resources and prompts; and what this client does not offer them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import { recordEnv, replayEnv, type ToolTap } from '@toolenv/core/recording';
import { dispatch } from '@toolenv/core/tools';
import { connectMcp, defineMcpEnv, type McpConnection } from '@toolenv/mcp';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { context, realServer } from '../../test/servers.ts';

const everything = realServer('everything');
const open: McpConnection[] = [];
afterEach(async () => {
  for (const connection of open.splice(0)) await connection.close();
});

async function connect(server: Parameters<typeof connectMcp>[0], options = {}): Promise<McpConnection> {
  const connection = await connectMcp(server, options);
  open.push(connection);
  return connection;
}

async function read(connection: McpConnection, name: string, args = {}) {
  const options = {
    limits: { maxTurns: 1, maxCallsPerTurn: 1, toolTimeout: 20_000, maxToolCharacters: 100_000 },
    episodeId: 'episode',
    seed: 1,
    firstCallIndex: 0,
  };
  const [record] = await dispatch([{ id: '1', name, arguments: args }], [...connection.tools], options);
  return record!;
}

describe('resources and prompts as tools', () => {
  test('are offered on request, and only if the server has them', async () => {
    const names = (connection: McpConnection) => connection.tools.map(({ name }) => name);
    const plain = names(await connect(everything));
    const all = await connect(everything, { offer: ['resources', 'prompts'] });
    const material = ['list_resources', 'read_resource', 'list_prompts', 'get_prompt'];
    expect(names(all)).toEqual([...plain, ...material]);
    const memory = await connect(realServer('memory'), { offer: ['resources', 'prompts'] });
    expect(names(memory)).not.toContain('list_prompts');
    expect(names(await connect(everything, { offer: ['prompts'], only: ['echo', 'get_prompt'] }))).toEqual([
      'echo',
      'get_prompt',
    ]);
  });

  test('list, read, and fail as tools do', async () => {
    const server = await connect(everything, { offer: ['resources', 'prompts'] });
    const { resources, templates } = JSON.parse((await read(server, 'list_resources')).text);
    expect(resources.length).toBeGreaterThan(0);
    expect(templates).toContainEqual(
      expect.objectContaining({ uriTemplate: 'demo://resource/dynamic/text/{resourceId}' }),
    );
    const text = await read(server, 'read_resource', { uri: 'demo://resource/dynamic/text/1' });
    expect(text.text).toContain('Resource 1: This is a plaintext resource');
    const { prompts } = JSON.parse((await read(server, 'list_prompts')).text);
    expect(prompts).toContainEqual(expect.objectContaining({ name: 'args-prompt' }));
    const prompt = await read(server, 'get_prompt', { name: 'args-prompt', arguments: { city: 'Oslo' } });
    expect(prompt.text).toMatch(/^user: .*Oslo/);

    expect((await read(server, 'read_resource', { uri: 'demo://nowhere' })).result?.isError).toBe(true);
    expect((await read(server, 'get_prompt', { name: 'none' })).result?.isError).toBe(true);
    expect((await read(server, 'read_resource', {})).mistake).toMatchObject({ code: 'invalid_arguments' });
    expect(server.lost).toBeUndefined();
  });
});

test('the client declares no capabilities, so no server may ask for sampling or elicitation', async () => {
  const script = `process.stdin.on('data', (data) => {
    for (const line of String(data).trim().split('\\n')) {
      const { id, method, params } = JSON.parse(line);
      const answer = (fields) => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...fields }));
      if (method === 'initialize') {
        globalThis.declared = params.capabilities;
        const { protocolVersion } = params;
        answer({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } } });
      } else if (method === 'tools/list') {
        answer({ result: { tools: [{ name: 'declared', inputSchema: { type: 'object' } }] } });
      } else if (method === 'tools/call') {
        answer({ result: { content: [{ type: 'text', text: JSON.stringify(globalThis.declared) }] } });
      } else if (id !== undefined) answer({ error: { code: -32601, message: 'Method not found' } });
    }
  });`;
  const connection = await connect({ command: process.execPath, args: ['-e', script] });
  expect(await connection.tools[0]!.execute({}, context())).toEqual({
    content: [{ type: 'text', text: '{}' }],
  });
  // This server offers further tools to clients with these capabilities.
  const names = (await connect(everything)).tools.map(({ name }) => name).join(' ');
  expect(names).not.toMatch(/sampling|elicitation/);
});

describe('instructions', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'toolenv-instructions-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function systemOf(fields: object, tap?: ToolTap): Promise<string | undefined> {
    const tasks = [{ prompt: 'What is 1 + 1?', answer: '2' }];
    const definition = defineMcpEnv({ name: 'sums-v1', tasks, ...fields } as never);
    await using env = await openEnv(definition, {}, { ...(tap && { tap }) });
    const episode = env.episode();
    const { messages } = await episode.reset({ task: await env.tasks.test.get(0)!, seed: 1 });
    await episode.close();
    await tap?.finish();
    return messages.find(({ role }) => role === 'system')?.content;
  }

  test('go into the system message if the environment wants them', async () => {
    const { instructions } = await connect(everything);
    expect(instructions).toMatch(/\w/);
    const said = instructions!.trim();
    expect(await systemOf({ server: everything })).toBeUndefined();
    expect(await systemOf({ server: everything, instructions: true })).toBe(said);
    expect(await systemOf({ server: everything, instructions: true, system: 'Be brief.' })).toBe(
      `Be brief.\n\n${said}`,
    );
    // The memory server has none.
    const servers = { sums: everything, memory: realServer('memory') };
    expect(await systemOf({ servers, instructions: true })).toBe(`sums:\n${said}`);
  });

  test('are recorded, and replayed without a server', async () => {
    const file = join(folder, 'calls.jsonl');
    const said = await systemOf({ server: everything, instructions: true }, recordEnv(file));
    const nothing = { command: 'no-such-command' };
    expect(await systemOf({ server: nothing, instructions: true }, await replayEnv(file))).toBe(said);
  });
});
