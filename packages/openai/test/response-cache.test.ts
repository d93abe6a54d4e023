/** Replies on disk: what is asked again, and what a damaged or foreign file does. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openAiPolicy } from '../src/open-policy.ts';
import { startWireServer } from './wire-server.ts';

const observation = (content: string) => ({ messages: [{ role: 'user' as const, content }], tools: [] });

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-cache-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** What a policy says to some requests, and what it asked for. */
async function said(url: string, cache: string, temperature: number, seeds = [1, 2]) {
  const policy = await openAiPolicy({ url, model: 'tiny', cache, inputPrice: 1, outputPrice: 1 });
  const actions = [];
  for (const content of ['Hi', 'Bye'])
    for (const seed of seeds)
      actions.push(await policy.act(observation(content), { maxTokens: 4, temperature, seed }));
  return { actions, usage: policy.usage! };
}

test.each([0, 1])(
  'at temperature %d, what is said again asks for nothing, and is the same',
  async (temperature) => {
    const cache = await scratch();
    await using server = await startWireServer();
    const first = await said(server.url, cache, temperature);
    // At temperature 0, both seeds are one request.
    const replies = temperature === 0 ? 2 : 4;
    const asked = server.requests.length;
    expect(first.usage.cachedReplies).toBe(4 - replies);
    const again = await said(server.url, cache, temperature);
    expect(server.requests).toHaveLength(asked);
    expect(again.actions).toEqual(first.actions);
    expect(again.usage).toMatchObject({ requests: 0, inputTokens: 0, outputTokens: 0, cost: 0 });
    const other = await said(server.url, cache, temperature, [3]);
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
  for (const name of names) await writeFile(join(cache, name), '{"body": ');
  const again = await said(server.url, cache, 0);
  expect(again.usage.requests).toBe(usage.requests);
  for (const name of names) expect(JSON.parse(await readFile(join(cache, name), 'utf8'))).toBeDefined();

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
