/** Replies on disk: what is asked again, and what a damaged or foreign file does. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { Action } from '@toolenv/core';
import { expect, onTestFinished, test } from 'vitest';
import { languageModelPolicy } from '../src/language-model-policy.ts';
import { openAiPolicy } from '../src/open-policy.ts';
import { startWireServer } from './wire-server.ts';

const observation = (content: string) => ({ messages: [{ role: 'user' as const, content }], tools: [] });

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-cache-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const prices = { inputPrice: 1, outputPrice: 1 };
const openers = {
  openai: (url: string, cache: string) => openAiPolicy({ url, model: 'tiny', cache, ...prices }),
  'AI SDK': async (url: string, cache: string) =>
    languageModelPolicy(createOpenAICompatible({ name: 'wire', baseURL: url })('tiny'), { cache, ...prices }),
};

/** What a policy says to some requests, and what it asked for. */
async function said(url: string, cache: string, temperature: number, seeds = [1, 2], open = openers.openai) {
  const policy = await open(url, cache);
  const actions = [];
  const usages = [];
  for (const content of ['Hi', 'Bye']) {
    for (const seed of seeds) {
      const { usage, ...action } = await policy.act(observation(content), {
        maxTokens: 4,
        temperature,
        seed,
      });
      actions.push(action);
      usages.push(usage);
    }
  }
  return { actions, usages, usage: policy.usage! };
}

test.each([
  ['openai', 0],
  ['openai', 1],
  ['AI SDK', 0],
  ['AI SDK', 1],
] as const)(
  '%s at temperature %d: what is said again asks for nothing, and is the same',
  async (kind, temperature) => {
    const open = openers[kind];
    const cache = await scratch();
    await using server = await startWireServer();
    const first = await said(server.url, cache, temperature, [1, 2], open);
    // At temperature 0, both seeds are one request.
    const replies = temperature === 0 ? 2 : 4;
    const asked = server.requests.length;
    expect(first.usage.cachedReplies).toBe(4 - replies);
    const again = await said(server.url, cache, temperature, [1, 2], open);
    expect(server.requests).toHaveLength(asked);
    expect(JSON.stringify(again.actions)).toBe(JSON.stringify(first.actions));
    expect(first.usages[0]!.cost).toBeGreaterThan(0);
    for (const usage of again.usages)
      expect(usage).toMatchObject({
        requests: 0,
        inputTokens: 0,
        outputTokens: 0,
        cost: 0,
        cachedReplies: 1,
      });
    expect(again.usage).toMatchObject({ requests: 0, inputTokens: 0, outputTokens: 0, cost: 0 });
    const other = await said(server.url, cache, temperature, [3], open);
    expect(other.usage.requests).toBe(temperature === 0 ? 0 : 2);
  },
);

test('a sample has its own reply, even if the server takes no seed', async () => {
  const cache = await scratch();
  await using server = await startWireServer({
    intercept: ({ body }) =>
      'seed' in body ? { status: 400, body: { error: { message: 'seed is not supported' } } } : undefined,
  });
  expect((await said(server.url, cache, 1)).usage.cachedReplies).toBe(0);
  const chats = server.requests.filter(({ body }) => body.temperature === 1);
  expect(chats).toHaveLength(4);
  expect((await said(server.url, cache, 1)).usage.requests).toBe(0);
});

test('faults are not kept, and damaged files are asked for again', async () => {
  const cache = await scratch();
  await using server = await startWireServer();
  const { usage } = await said(server.url, cache, 0);
  const names = (await readdir(cache, { recursive: true })).filter((name) => name.endsWith('.json'));
  expect(names.length).toBe(usage.requests);
  const deep = `{"body": {"content": ${'['.repeat(1e5)}${']'.repeat(1e5)}}}`;
  const damages = [
    (file: string) => writeFile(file, '{"body": '),
    (file: string) => writeFile(file, deep),
    (file: string) => truncate(file, 2 ** 30),
  ];
  for (const damage of damages) {
    for (const name of names) await damage(join(cache, name));
    const again = await said(server.url, cache, 0);
    expect(again.usage.requests).toBe(usage.requests);
    for (const name of names) expect(JSON.parse(await readFile(join(cache, name), 'utf8'))).toBeDefined();
  }

  const broken = await scratch();
  const fault = { status: 500, headers: { 'retry-after': '0' }, body: 'down' };
  await using failing = await startWireServer({ intercept: () => fault });
  await expect(
    openAiPolicy({ url: failing.url, model: 'tiny', cache: broken, retries: 0 }),
  ).rejects.toThrow();
  expect(await readdir(broken)).toEqual([]);
});

test('exact tokens have no cache', async () => {
  const tokens = { chat: {} as never, contextLength: 8, vocabularySize: 8 };
  const opened = openAiPolicy({ url: 'http://127.0.0.1:9', model: 'tiny', cache: 'x', tokens });
  await expect(opened).rejects.toMatchObject({ code: 'usage.bad_option' });
});

test('pipes, and files of other requests, are asked for again', async () => {
  const cache = await scratch();
  await using server = await startWireServer();
  const first = await said(server.url, cache, 0, [1], openers['AI SDK']);
  const names = (await readdir(cache, { recursive: true })).filter((name) => name.endsWith('.json'));
  const [one, other] = names.map((name) => join(cache, name));
  await writeFile(one!, await readFile(other!));
  await rm(other!);
  execFileSync('mkfifo', [other!]);
  const again = await said(server.url, cache, 0, [1], openers['AI SDK']);
  expect(again.usage).toMatchObject({ requests: 2, cachedReplies: 0 });
  expect(again.actions).toEqual(first.actions);
  expect((await said(server.url, cache, 0, [1], openers['AI SDK'])).usage.requests).toBe(0);
});

test('models of other names have replies of their own', async () => {
  const cache = await scratch();
  const replies: Action[] = [];
  for (const modelId of ['a', 'b']) {
    const content = [{ type: 'text', text: modelId }];
    const doGenerate = async () => ({ content, finishReason: 'stop', usage: {} });
    const policy = languageModelPolicy(
      { specificationVersion: 'v2', provider: 'p', modelId, doGenerate },
      { cache },
    );
    replies.push(await policy.act(observation('Hi'), { maxTokens: 4, temperature: 0, seed: 1 }));
  }
  expect(replies.map(({ text }) => text)).toEqual(['a', 'b']);
  expect(replies.map(({ usage }) => usage!.uncountedReplies)).toEqual([1, 1]);
});
