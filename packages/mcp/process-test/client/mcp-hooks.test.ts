/** What a server asks its client: forms, texts of a model, and folders. The server is the official one, which asks on demand. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openEnv, type Policy, ToolEnvError } from '@toolenv/core';
import {
  connectMcp,
  defineMcpEnv,
  type McpForm,
  type McpHooks,
  type McpSample,
  openMcpPool,
  policyHooks,
} from '@toolenv/mcp';
import { describe, expect, test } from 'vitest';
import { context, realServer } from '../../test/servers.ts';

const everything = realServer('everything');

async function call(hooks: McpHooks, name: string, args = {}): Promise<string> {
  const connection = await connectMcp(everything, hooks);
  try {
    // The server offers these tools once it knows the capabilities of the client.
    await expect.poll(() => connection.tools.map((tool) => tool.name)).toContain(name);
    const tool = connection.tools.find((each) => each.name === name)!;
    const { content } = await tool.execute(args, context());
    return content.map((block) => ('text' in block ? String(block.text) : '')).join('\n');
  } finally {
    await connection.close();
  }
}

/** A policy that writes these texts one after another. */
function saying(...texts: string[]): { policy: Policy; asked: unknown[] } {
  const asked: unknown[] = [];
  const policy = {
    spec: { name: 'says-v1' },
    async act(observation: object, options: { signal?: AbortSignal }) {
      asked.push({ ...observation, ...options });
      return { text: texts.shift()!, toolCalls: [], stopReason: 'stop' };
    },
  };
  return { policy: policy as unknown as Policy, asked };
}

describe('by script', () => {
  test('a form', async () => {
    const forms: McpForm[] = [];
    const onElicit = (form: McpForm) => {
      forms.push(form);
      return { action: 'accept' as const, content: { name: 'Ada' } };
    };
    expect(await call({ onElicit }, 'trigger-elicitation-request')).toContain('- Name: Ada');
    expect(forms).toMatchObject([
      { message: 'Please provide inputs for the following fields:', schema: { required: ['name'] } },
    ]);
    const decline = () => ({ action: 'decline' as const });
    expect(await call({ onElicit: decline }, 'trigger-elicitation-request')).toContain('declined');
  });

  test('a text', async () => {
    const asked: McpSample[] = [];
    const onSample = (sample: McpSample) => {
      asked.push(sample);
      return 'forty-two';
    };
    const said = await call({ onSample }, 'trigger-sampling-request', {
      prompt: 'six by seven',
      maxTokens: 7,
    });
    expect(said).toContain('forty-two');
    expect(asked).toMatchObject([{ maxTokens: 7, temperature: 0.7 }]);
    expect(asked[0]!.messages).toEqual([
      { role: 'system', content: 'You are a helpful test server.' },
      { role: 'user', content: 'Resource trigger-sampling-request context: six by seven' },
    ]);
  });

  test('folders', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'toolenv-roots-'));
    expect(await call({ roots: [folder] }, 'get-roots-list')).toContain(pathToFileURL(folder).href);
    await rm(folder, { recursive: true });
  });
});

describe('by a policy', () => {
  test('a text and a form', async () => {
    const { policy, asked } = saying('forty-two', '```json\n{"name": "Ada"}\n```', '{"nom": "Ada"}');
    const hooks = policyHooks(policy, { seed: 7 });
    expect(await call(hooks, 'trigger-sampling-request', { prompt: 'x' })).toContain('forty-two');
    expect(asked[0]).toMatchObject({ tools: [], maxTokens: 100, temperature: 0.7 });
    expect(await call(hooks, 'trigger-elicitation-request')).toContain('- Name: Ada');
    // An answer that does not fit is no answer.
    expect(await call(hooks, 'trigger-elicitation-request')).toContain('declined');
    const long = policyHooks(saying('{"name": "Ada", "integer": 9007199254740993}').policy, { seed: 7 });
    expect(await call(long, 'trigger-elicitation-request')).toContain('declined');
  });
});

describe('a hook that throws', () => {
  const args = { prompt: 'x' };
  test('fails the call: the machinery’s error as it is, and any other as a bug', async () => {
    const gone = new ToolEnvError('infrastructure.model', 'The model is gone.');
    const throws = (error: Error) => ({
      onSample() {
        throw error;
      },
    });
    await expect(call(throws(gone), 'trigger-sampling-request', args)).rejects.toBe(gone);
    await expect(call(throws(new Error('oops')), 'trigger-sampling-request', args)).rejects.toMatchObject({
      code: 'bug.mcp_hook',
      message: expect.stringContaining('oops'),
    });
  });
});

test('without a hook, the server cannot ask', async () => {
  const connection = await connectMcp(everything);
  const names = connection.tools.map(({ name }) => name);
  for (const name of ['trigger-elicitation-request', 'trigger-sampling-request', 'get-roots-list'])
    expect(names).not.toContain(name);
  await connection.close();
});

test('pools and environments have the hooks too', async () => {
  const onSample = () => 'forty-two';
  const pool = await openMcpPool(everything, { size: 1, onSample });
  const lease = await pool.acquire();
  const sample = () => lease.tools.find(({ name }) => name === 'trigger-sampling-request');
  await expect.poll(sample).toBeDefined();
  const { content } = await sample()!.execute({ prompt: 'x' }, context());
  expect(JSON.stringify(content)).toContain('forty-two');
  await lease.release();
  await pool.close();

  const asking = defineMcpEnv({
    name: 'asking-v1',
    server: everything,
    hooks: { onSample },
    tasks: [{ prompt: 'Go.' }],
  });
  await using env = await openEnv(asking);
  const episode = env.episode();
  await episode.reset({ task: await env.tasks.test.get(0), seed: 1 });
  const toolCalls = [{ id: '1', name: 'trigger-sampling-request', arguments: { prompt: 'x' } }];
  const { calls } = await episode.step({ text: '', toolCalls, stopReason: 'tool_call' });
  expect(calls[0]!.text).toContain('forty-two');
  await episode.close();
});
