import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CallProgress, defineToolEnv, playTask, scriptedPolicy, type ToolResult } from '@toolenv/core';
import { dispatch } from '@toolenv/core/tools';
import { connectMcp, type McpConnection, type McpTool } from '@toolenv/mcp';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { badServer, context, groupLives, realServer } from '../../test/servers.ts';

const dispatchOptions = {
  limits: { maxTurns: 1, maxCallsPerTurn: 9, toolTimeout: 10_000, maxToolCharacters: 10_000 },
  episodeId: 'e',
  seed: 1,
  firstCallIndex: 0,
};

function toolOf(connection: McpConnection, name: string) {
  const tool = connection.tools.find((tool) => tool.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}

function call(
  connection: McpConnection,
  name: string,
  args: Record<string, unknown> = {},
  signal?: AbortSignal,
) {
  return toolOf(connection, name).execute(args, context(signal));
}

/** The kernel may need a moment to remove a killed process. */
async function ended({ pid }: McpConnection): Promise<void> {
  await expect.poll(() => groupLives(pid!)).toBe(false);
}

function firstText({ content }: ToolResult): string {
  return String((content[0] as { text: string }).text);
}

describe('server-everything', () => {
  let everything: McpConnection;
  const progress: CallProgress[] = [];
  beforeAll(async () => {
    vi.stubEnv('TOOLENV_TEST_SECRET', 'hush');
    everything = await connectMcp(
      { ...realServer('everything'), env: { GIVEN: 'on purpose' } },
      { onProgress: (report) => progress.push(report) },
    );
  });
  afterAll(() => everything.close());

  test('lists the tools with their definitions, except tools that run only as tasks', () => {
    const names = everything.tools.map(({ name }) => name);
    expect(names).toContain('echo');
    expect(names).not.toContain('simulate-research-query');
    const structured = toolOf(everything, 'get-structured-content');
    expect(structured.outputSchema).toMatchObject({ required: ['temperature', 'conditions', 'humidity'] });
    expect(structured.annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    expect(structured.definition.title).toBe('Get Structured Content Tool');
    expect(structured.annotations!.title).toBe('Get Structured Content Tool');
  });

  test('calls a tool', async () => {
    expect(await call(everything, 'echo', { message: 'hello' })).toEqual({
      content: [{ type: 'text', text: 'Echo: hello' }],
    });
  });

  test('returns structured content', async () => {
    const result = await call(everything, 'get-structured-content', { location: 'Chicago' });
    expect(result.structuredContent).toEqual({
      temperature: 36,
      conditions: 'Light rain / drizzle',
      humidity: 82,
    });
  });

  test('passes images, annotations, resources and links through unchanged', async () => {
    const image = (await call(everything, 'get-tiny-image')).content[1]!;
    expect(image).toMatchObject({ type: 'image', mimeType: 'image/png' });
    expect(
      Buffer.from(String((image as { data: string }).data), 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    const pictures = defineToolEnv({
      name: 'pictures-v1',
      description: 'Look.',
      tasks: { train: [{}] },
      rewards: {},
      episode: () => ({ messages: 'Look.', tools: [toolOf(everything, 'get-tiny-image')] }),
    });
    const script = scriptedPolicy([[{ name: 'get-tiny-image', arguments: {} }], 'seen']);
    const policy = { ...script, spec: { ...script.spec, capabilities: { images: true } } };
    const { steps } = await playTask(pictures, {}, policy);
    const { data, mimeType } = image as { data: string; mimeType: string };
    expect(steps[1]!.observation.messages.at(-1)).toMatchObject({
      images: [{ type: 'image', data, mimeType }],
    });
    const annotated = await call(everything, 'get-annotated-message', { messageType: 'error' });
    expect(annotated.content[0]).toMatchObject({
      annotations: { priority: 1, audience: ['user', 'assistant'] },
    });
    const reference = await call(everything, 'get-resource-reference', {
      resourceType: 'Text',
      resourceId: 1,
    });
    expect(reference.content[1]).toMatchObject({
      type: 'resource',
      resource: { uri: 'demo://resource/dynamic/text/1', mimeType: 'text/plain' },
    });
    const links = await call(everything, 'get-resource-links', { count: 2 });
    expect(links.content.filter(({ type }) => type === 'resource_link')).toHaveLength(2);
  });

  test('shows the model the text of a resource', async () => {
    const asked = {
      id: '1',
      name: 'get-resource-reference',
      arguments: { resourceType: 'Text', resourceId: 1 },
    };
    const [record] = await dispatch([asked], [...everything.tools], dispatchOptions);
    expect(record!.text).toContain('Resource 1: This is a plaintext resource');
  });

  test('shows the model the name and the description of a link', async () => {
    const asked = { id: '1', name: 'get-resource-links', arguments: { count: 1 } };
    const [record] = await dispatch([asked], [...everything.tools], dispatchOptions);
    expect(record!.text).toMatch(/\[resource_link demo:\/\/\S+\] \S+ Resource 1: Resource 1: \S+ resource/);
  });

  test('reports progress in order', async () => {
    await call(everything, 'trigger-long-running-operation', { duration: 0.2, steps: 4 });
    expect(progress.map(({ progress, total, tool }) => [progress, total, tool])).toEqual(
      [1, 2, 3, 4].map((step) => [step, 4, 'trigger-long-running-operation']),
    );
  });

  test('treats arguments that the schema or the server refuses as the model’s mistake', async () => {
    const asked = { id: '1', name: 'get-sum', arguments: { a: 'one', b: 2 } };
    const [record] = await dispatch([asked], [...everything.tools], dispatchOptions);
    expect(record!.mistake).toMatchObject({ code: 'invalid_arguments', path: '/a', received: '"one"' });
    const refused = await call(everything, 'get-sum', { a: 'one', b: 2 });
    expect(refused.isError).toBe(true);
    expect(firstText(refused)).toMatch(/invalid arguments.*get-sum/is);
  });

  test('rejects an aborted call at once with the reason and keeps the connection', async () => {
    const leave = new AbortController();
    const reason = new Error('enough');
    const start = performance.now();
    const late = call(everything, 'trigger-long-running-operation', { duration: 20, steps: 1 }, leave.signal);
    setTimeout(() => leave.abort(reason), 50);
    await expect(late).rejects.toBe(reason);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(firstText(await call(everything, 'echo', { message: 'still here' }))).toBe('Echo: still here');
  });

  test('passes only given and safe environment variables to the process', async () => {
    const seen = JSON.parse(firstText(await call(everything, 'get-env')));
    expect(seen.GIVEN).toBe('on purpose');
    expect(seen.TOOLENV_TEST_SECRET).toBeUndefined();
    const safe = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'GIVEN'];
    expect(Object.keys(seen).filter((name) => !safe.includes(name))).toEqual([]);
  });
});

describe('the other real servers', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'toolenv-mcp-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('filesystem reads allowed files and refuses others', async () => {
    await writeFile(join(folder, 'note.txt'), 'a note');
    const files = await connectMcp(realServer('filesystem', folder));
    const read = await call(files, 'read_text_file', { path: join(folder, 'note.txt') });
    expect(firstText(read)).toBe('a note');
    expect(read.structuredContent).toEqual({ content: 'a note' });
    const refused = await call(files, 'read_text_file', { path: '/etc/passwd' });
    expect(refused.isError).toBe(true);
    expect(firstText(refused)).toMatch(/outside allowed directories/);
    await files.close();
    await ended(files);
  });

  test('memory keeps a graph in the file named by its environment variable', async () => {
    const env = { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') };
    const memory = await connectMcp({ ...realServer('memory'), env });
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote programs'] }];
    await call(memory, 'create_entities', { entities });
    const { structuredContent } = await call(memory, 'read_graph');
    expect(structuredContent).toMatchObject({ entities, relations: [] });
    await memory.close();
    await ended(memory);
  });

  test('sequential-thinking returns structured content', async () => {
    const thinking = await connectMcp(realServer('sequential-thinking'), { only: ['sequentialthinking'] });
    const thought = { thought: 'first', thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true };
    const { structuredContent } = await call(thinking, 'sequentialthinking', thought);
    expect(structuredContent).toMatchObject({ thoughtNumber: 1, thoughtHistoryLength: 1 });
    await thinking.close();
    await ended(thinking);
  });
});

describe('a server that misbehaves', () => {
  let bad: McpConnection;
  const connect = async (options = {}) => {
    bad = await connectMcp(badServer, { closeGrace: 300, ...options });
    return bad;
  };

  test('lists all pages, and lists again when the list changes', async () => {
    const changes: string[] = [];
    await connect({ onToolsChanged: (tools: readonly McpTool[]) => changes.push(tools.at(-1)!.name) });
    expect(bad.tools.map(({ name }) => name).slice(-2)).toEqual(['data', 'grow']);
    const grown = await call(bad, 'grow');
    expect(grown.structuredContent).toEqual({ size: 3 });
    // The list is new before the call returns.
    expect(bad.tools.at(-1)!.name).toBe('grown-2');
    // So it is before an error.
    expect(await call(bad, 'shrink', { refuse: true })).toMatchObject({ isError: true });
    expect(bad.tools.at(-1)!.name).toBe('grow');
    expect(changes).toEqual(['grown-2', 'grow']);
    await bad.close();
  });

  test('asks once after answers that come together whether its list has changed', async () => {
    const script = `let pings = 0;
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      const say = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      if (method === 'initialize') {
        const { protocolVersion } = params;
        const capabilities = { tools: { listChanged: true } };
        say({ protocolVersion, capabilities, serverInfo: { name: 'a', version: '1' } });
      } else if (method === 'tools/list') say({ tools: [{ name: 'pings', inputSchema: { type: 'object' } }] });
      else if (method === 'tools/call') setTimeout(() => say({ content: [{ type: 'text', text: String(pings) }] }), 50);
      else if (method === 'ping') { pings += 1; setTimeout(() => say({}), 20); }
    });`;
    const server = { command: process.execPath, args: ['-e', script] };
    const connection = await connectMcp(server, { initialize: true });
    const pings = async () => {
      const { content } = await connection.tools[0]!.execute({}, context());
      return Number((content[0] as { text: string }).text);
    };
    const before = await pings();
    await Promise.all(Array.from({ length: 40 }, pings));
    const asked = (await pings()) - before;
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(10);
    await connection.close();
  });

  test('shows the model the data of a result without blocks', async () => {
    await connect();
    const [record] = await dispatch(
      [{ id: '1', name: 'data', arguments: {} }],
      [...bad.tools],
      dispatchOptions,
    );
    expect(record!.text).toBe('{"lucky":[7]}');
    await bad.close();
  });

  test('cancels a call on the server too', async () => {
    await connect();
    const leave = new AbortController();
    const waiting = call(bad, 'wait', {}, leave.signal);
    setTimeout(() => leave.abort(new Error('enough')), 20);
    await expect(waiting).rejects.toThrow('enough');
    expect(firstText(await call(bad, 'cancelled'))).toBe('1');
    await bad.close();
  });

  test('returns the protocol errors of a live server as failed results, in the words of the server', async () => {
    await connect();
    const failed = (text: string) => ({ content: [{ type: 'text', text }], isError: true });
    expect(await call(bad, 'refuse')).toEqual(failed('mood is wrong'));
    expect(await call(bad, 'fail')).toEqual(failed('no disk'));
    for (const code of [-32000, -32001, -32603, 7]) {
      expect(await call(bad, 'fail', { code })).toEqual(failed('own code'));
    }
    expect(bad.lost).toBeUndefined();
    await expect(call(bad, 'grow', { wrong: true })).rejects.toMatchObject({
      code: 'infrastructure.mcp_result',
      message: expect.stringContaining('structuredContent/size'),
    });
    expect(firstText(await call(bad, 'chatter'))).toBe('ok');
    await bad.close();
  });

  test('rejects calls in flight and later calls after a crash', async () => {
    await connect();
    const waiting = call(bad, 'wait');
    const crash = call(bad, 'crash');
    const closed = {
      code: 'infrastructure.mcp_closed',
      message: expect.stringMatching(/exited with code 3; its stderr says: out of luck/),
    };
    await Promise.all([
      expect(waiting).rejects.toMatchObject(closed),
      expect(crash).rejects.toMatchObject(closed),
    ]);
    await expect(call(bad, 'cancelled')).rejects.toMatchObject(closed);
    expect(bad.lost).toMatchObject(closed);
    await ended(bad);
    await bad.close();
  });

  test('removes given secrets from the quoted stderr', async () => {
    bad = await connectMcp({ ...badServer, env: { LUCK_KEY: 'sk-four-leaves' } }, { closeGrace: 300 });
    await expect(call(bad, 'crash')).rejects.toThrow(/its stderr says: out of luck with \[LUCK_KEY\]/);
    await ended(bad);
  });

  test('keeps a tool of the changed list whose schema cannot be checked as a whole, and says so once', async () => {
    const warnings: string[] = [];
    let changes = 0;
    await connect({
      onWarning: (message: string) => warnings.push(message),
      onToolsChanged: () => changes++,
    });
    await call(bad, 'spoil');
    await call(bad, 'grow');
    expect(changes).toBe(2);
    expect(bad.tools.map(({ name }) => name).slice(-3)).toEqual(['grow', 'spoilt', 'grown-3']);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Tool "spoilt" of .*its inputSchema has constraints .*\/\$ref \(nothing is at #\/nowhere\)\.$/,
      ),
    ]);
    await bad.close();
  });

  test('leaves out tools whose name is taken or missing, and renames those that models cannot call', async () => {
    const warnings: string[] = [];
    await connect({ onWarning: (message: string) => warnings.push(message) });
    await call(bad, 'misname');
    await call(bad, 'misname');
    const names = bad.tools.map(({ name }) => name);
    expect(names.filter((name) => name === 'wait' || name === '')).toEqual(['wait']);
    expect(toolOf(bad, 'wait').description).toBe('');
    expect(names.at(-1)).toBe('two_words');
    expect(bad.tools.at(-1)!.definition.name).toBe('two words');
    // The server hears its own name.
    expect(firstText(await call(bad, 'two_words'))).toBe('two words');
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Tools of .* are left out: "wait" \(listed twice\), "" \(no name\): fix the server\.$/,
      ),
      expect.stringMatching(/^Models call tools of .*: "two words" as two_words\.$/),
      expect.stringMatching(
        / are left out: "wait" \(listed twice\), "" \(no name\), "two words" \(listed twice\): /,
      ),
    ]);
    await bad.close();
  });

  test('ends a call without an answer after callTimeout', async () => {
    await connect({ callTimeout: 100 });
    await expect(call(bad, 'wait')).rejects.toMatchObject({ code: 'infrastructure.mcp_timeout' });
    expect(firstText(await call(bad, 'cancelled'))).toBe('1');
    await bad.close();
  });

  test('close ends a server that hangs', async () => {
    await connect();
    const hanging = call(bad, 'hang');
    hanging.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(groupLives(bad.pid!)).toBe(true);
    await bad.close();
    await ended(bad);
    await expect(hanging).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
  });

  test('close ends a server that ignores SIGTERM, and its child processes', async () => {
    await connect();
    await call(bad, 'stubborn');
    const child = Number(firstText(await call(bad, 'child')));
    expect(() => process.kill(child, 0)).not.toThrow();
    await bad.close();
    await ended(bad);
    expect(bad.lost).toMatchObject({ code: 'infrastructure.mcp_closed' });
  });

  test('notices the end of a killed server even if its child holds the pipe', async () => {
    await connect();
    await call(bad, 'child');
    const waiting = call(bad, 'wait');
    process.kill(bad.pid!, 'SIGKILL');
    await expect(waiting).rejects.toMatchObject({
      code: 'infrastructure.mcp_closed',
      message: expect.stringContaining('ended by SIGKILL'),
    });
    await ended(bad);
  });
});

describe('connecting fails', () => {
  test('for an unknown command', async () => {
    await expect(connectMcp({ command: 'no-such-command' })).rejects.toMatchObject({
      code: 'usage.mcp_command',
      message: expect.stringContaining('ENOENT'),
    });
  });

  test('for a command that is not a server', async () => {
    const args = ['-e', 'console.error("I am not a server"); process.exit(7)'];
    await expect(connectMcp({ command: process.execPath, args })).rejects.toMatchObject({
      code: 'infrastructure.mcp_connect',
      message: expect.stringMatching(/exited with code 7; its stderr says: I am not a server/),
    });
  });

  test('with the error of the handshake, and not with the exit that closing causes', async () => {
    const script = `process.stdin.on('data', (line) => {
      const { id } = JSON.parse(line);
      const error = { code: -32603, message: 'the licence has expired' };
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error }) + '\\n');
    }).on('end', () => process.exit(5));`;
    const failure = connectMcp({ command: process.execPath, args: ['-e', script] });
    await expect(failure).rejects.toMatchObject({
      code: 'infrastructure.mcp_connect',
      message: expect.stringMatching(/cannot be used: .*the licence has expired: check the server/s),
    });
    await expect(failure).rejects.not.toThrow('exited with code');
  });

  test.each([
    [
      'process.stderr.write("Error: no licence.\\n"); process.exit(1)',
      /says: Error: no licence: check the server/,
    ],
    ['process.exit(1)', /exited with code 1: check the server/],
  ])('with one mark after the words of the server: %s', async (script, message) => {
    const failure = await connectMcp({ command: process.execPath, args: ['-e', script] }).catch(
      (error: Error) => error.message,
    );
    expect(failure).toMatch(message);
    expect(String(failure).replaceAll(script, '')).not.toMatch(/[.:;,]\s*[.:;,]/);
  });

  test('for a port that is closed, with the cause', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await new Promise((resolve) => taken.close(resolve));
    const url = `http://localhost:${port}/mcp`;
    const failure = await connectMcp({ url }).catch((error: Error) => error.message);
    expect(failure).toMatch(/cannot be used: .*ECONNREFUSED.*: check the server/);
    expect(failure).not.toMatch(/[.:;,]\s+[.:;,]/);
  });

  test('for a command that writes nothing', async () => {
    const silent = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };
    const connecting = connectMcp(silent, { connectTimeout: 300, closeGrace: 100 });
    await expect(connecting).rejects.toMatchObject({
      code: 'infrastructure.mcp_connect',
      message: expect.stringMatching(/within 0\.3 s.*: raise connectTimeout \(--connect-timeout\) or fix/),
    });
  });

  test('for a misspelt tool, a wrong URL and an unreachable server', async () => {
    await expect(connectMcp(realServer('memory'), { only: ['reed_graph'] })).rejects.toMatchObject({
      code: 'usage.mcp_tool',
      message: expect.stringContaining('Did you mean "read_graph"?'),
    });
    await expect(connectMcp({ url: 'ftp://host/mcp' })).rejects.toMatchObject({ code: 'usage.mcp_url' });
    await expect(connectMcp({ url: 'http://127.0.0.1:9/mcp' })).rejects.toMatchObject({
      code: 'infrastructure.mcp_connect',
    });
  });

  test('for a variable that is not set, and leaves no timer that would end the process later', async () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const variable = 'TOOLENV_VARIABLE_THAT_IS_NOT_SET';
    const server = { command: 'node', env: { KEY: `\${${variable}}` } };
    await expect(connectMcp(server)).rejects.toThrow(variable);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('with the reason of an aborted signal', async () => {
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(connectMcp(realServer('memory'), { signal })).rejects.toBe(reason);
  });
});
