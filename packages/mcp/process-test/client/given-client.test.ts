/** Connections over given clients: clients of both versions of the SDK, and objects of the same shape. */
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { defineToolEnv, openEnv, playTask } from '@toolenv/core';
import { connectMcp, type McpClient, type McpRequestOptions } from '@toolenv/mcp';
import { describe, expect, test } from 'vitest';
import { badServer, context, realServer } from '../../test/servers.ts';

const us = { name: 'test', version: '1.0.0' };

async function openV1({ command, args = [] } = realServer('everything')) {
  const client = new ClientV1(us);
  await client.connect(new StdioV1({ command, args: [...args], stderr: 'ignore' }));
  return client;
}

async function openV2({ command, args = [] } = realServer('everything')) {
  const client = new ClientV2(us);
  await client.connect(new StdioV2({ command, args: [...args], stderr: 'ignore' }));
  return client;
}

describe.each([
  ['version 1', openV1],
  ['version 2', openV2],
])('a client of %s', (_, open) => {
  test('lists, calls, reports progress, cancels and stays open', async () => {
    const client = await open();
    const steps: number[] = [];
    const connection = await connectMcp({ client }, { onProgress: ({ progress }) => steps.push(progress) });
    const tool = (name: string) => connection.tools.find((tool) => tool.name === name)!;
    expect(await tool('get-sum').execute({ a: 2, b: 3 }, context())).toMatchObject({
      content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }],
    });
    expect(await tool('get-sum').execute({ a: 'two', b: 3 }, context())).toMatchObject({ isError: true });
    const reason = new Error('enough');
    const long = tool('trigger-long-running-operation');
    const late = long.execute({ duration: 0.4, steps: 4 }, context(AbortSignal.timeout(250)));
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(steps.length).toBeGreaterThan(0);
    await expect(long.execute({}, context(AbortSignal.abort(reason)))).rejects.toBe(reason);
    await connection.close();
    await expect(tool('echo').execute({ message: 'x' }, context())).rejects.toMatchObject({
      code: 'infrastructure.mcp_closed',
    });
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    await client.close();
  });

  test('reports a crash of the server as an infrastructure error', async () => {
    const client = await open(badServer);
    const { tools } = await connectMcp({ client });
    const crash = tools.find(({ name }) => name === 'crash')!;
    await expect(crash.execute({}, context())).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
    await client.close();
  });
});

test('accepts any object with listTools and callTool', async () => {
  const seen: unknown[] = [];
  const client: McpClient = {
    async listTools(params) {
      const name = params?.cursor ?? 'first';
      const inputSchema = { type: 'object' };
      return { tools: [{ name, inputSchema }], nextCursor: name === 'first' ? 'second' : undefined };
    },
    async callTool(params: { name: string }, options?: McpRequestOptions) {
      seen.push(options?.signal);
      return { content: [{ type: 'text', text: params.name }], _meta: { cost: 1 } };
    },
  };
  const { tools } = await connectMcp({ client });
  expect(tools.map(({ name }) => name)).toEqual(['first', 'second']);
  const { signal } = new AbortController();
  expect(await tools[1]!.execute({}, context(signal))).toEqual({
    content: [{ type: 'text', text: 'second' }],
    _meta: { cost: 1 },
  });
  expect(seen).toEqual([signal]);
});

test('reports a result without content as the server’s fault', async () => {
  const client: McpClient = {
    listTools: async () => ({ tools: [{ name: 'odd', inputSchema: { type: 'object' } }] }),
    callTool: async () => ({ toolResult: 1 }),
  };
  const { tools } = await connectMcp({ client });
  await expect(tools[0]!.execute({}, context())).rejects.toMatchObject({ code: 'infrastructure.mcp_result' });
});

test('a prompt may have several blocks in a message', async () => {
  const content = [
    { type: 'text', text: 'Hello' },
    { type: 'image', data: 'iVBORw==', mimeType: 'image/png' },
  ];
  const client: McpClient = {
    listTools: async () => ({ tools: [] }),
    callTool: async () => ({}),
    getServerCapabilities: () => ({ prompts: {} }),
    listPrompts: async () => ({ prompts: [{ name: 'greet' }] }),
    getPrompt: async () => ({ messages: [{ role: 'user', content: content as never }] }),
  };
  const { tools } = await connectMcp({ client }, { offer: ['prompts'] });
  const prompt = tools.find(({ name }) => name === 'get_prompt')!;
  expect(await prompt.execute({ name: 'greet' }, context())).toEqual({
    content: [{ type: 'text', text: 'user: Hello' }, content[1]],
  });
});

describe('a tool with constraints that cannot be checked here', () => {
  const month = {
    $schema: 'https://json-schema.org/draft-07/schema',
    type: 'object',
    properties: {
      month: { type: 'string', pattern: '^\\d{4}\\-\\d{2}$' },
      count: { type: 'integer', format: 'uint8' },
    },
    required: ['month'],
  };
  const called: unknown[] = [];
  const client: McpClient = {
    listTools: async () => ({
      tools: [
        { name: 'good', inputSchema: { type: 'object' } },
        { name: 'month', inputSchema: month },
        { name: 'late', inputSchema: { type: 'object' }, outputSchema: { type: 'no-such-type' } },
      ],
    }),
    callTool: async (params: object) => {
      called.push(params);
      return { content: [{ type: 'text', text: 'ok' }], structuredContent: { a: 1 } };
    },
  };

  test('is offered as it is listed, with a warning that names them', async () => {
    const warnings: string[] = [];
    const { tools } = await connectMcp({ client }, { onWarning: (message) => warnings.push(message) });
    expect(tools.map(({ name, inputSchema }) => [name, inputSchema])).toEqual([
      ['good', { type: 'object' }],
      ['month', month],
      ['late', { type: 'object' }],
    ]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Tool "month" of .*its inputSchema has constraints that only the server checks: \/properties\/month\/pattern \(Invalid regular expression.*\)\.$/,
      ),
      expect.stringMatching(
        /^Tool "late" of .*its outputSchema has constraints .*: \/type \(schema is invalid/,
      ),
    ]);
    expect(await tools[2]!.execute({}, context())).toMatchObject({ structuredContent: { a: 1 } });
  });

  test('plays in an environment: the other constraints are checked, and the server judges the rest', async () => {
    const { tools } = await connectMcp({ client }, { onWarning() {} });
    const env = await openEnv(
      defineToolEnv({
        name: 'months-v1',
        description: 'Months.',
        tasks: { test: ['go'] },
        rewards: { right: { kind: 'outcome' } },
        episode: ({ task }) => ({ messages: task, tools, onAnswer: () => ({ end: 'answered' }) }),
      }),
    );
    called.length = 0;
    const turn = (args: object) => [{ name: 'month', arguments: args as Record<string, unknown> }];
    const { steps } = await playTask(env, 'go', [turn({ month: 7 }), turn({ month: 'May' }), 'done']);
    expect(steps[0]!.calls[0]).toMatchObject({ mistake: { code: 'invalid_arguments', path: '/month' } });
    expect(steps[1]!.calls[0]).toMatchObject({ text: 'ok' });
    expect(called).toEqual([{ name: 'month', arguments: { month: 'May' } }]);
    await env.close();
  });
});
