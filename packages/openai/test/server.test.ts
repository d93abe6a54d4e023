/** Faults of servers: what is tried again, how long is waited, and what becomes of it in the end. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isInfrastructure } from '@toolenv/core';
import { backoff, retryAfter } from '@toolenv/serving/client';
import { expect, test, vi } from 'vitest';
import { openAiPolicy } from '../src/open-policy.ts';
import { Server } from '../src/server.ts';
import { type Intercepted, startWireServer } from './wire-server.ts';

const body = { model: 'tiny', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1, seed: 1 };

/** A server whose first replies are these. */
function startFailing(...first: Intercepted[]) {
  return startWireServer({ intercept: (_request, number) => first[number] });
}

test.each([
  ['429', { status: 429, headers: { 'retry-after': '0' }, body: { error: { message: 'Too fast' } } }],
  [
    '503 while a model loads',
    {
      status: 503,
      headers: { 'retry-after-ms': '1' },
      body: { error: { code: 503, message: 'Loading model' } },
    },
  ],
  ['500 in plain text', { status: 500, headers: { 'retry-after': '0' }, body: 'Internal Server Error' }],
] as const)('%s is tried again, and the tokens count once', async (_name, fault) => {
  await using wire = await startFailing(fault, fault);
  const server = new Server({ url: wire.url, inputPrice: 2, outputPrice: 10 });
  const { body: reply } = await server.ask('chat/completions', body);
  const usage = reply!.usage as Record<string, number>;
  expect(server.usage.total).toEqual({
    requests: 3,
    retries: 2,
    inputTokens: usage.prompt_tokens,
    cachedTokens: 1,
    outputTokens: usage.completion_tokens,
    cost: (2 * usage.prompt_tokens! + 10 * usage.completion_tokens!) / 1e6,
  });
});

test('a connection that drops is tried again', async () => {
  await using wire = await startFailing('drop');
  const server = new Server({ url: wire.url });
  expect((await server.ask('chat/completions', body)).body).toBeDefined();
  expect(server.usage.total.retries).toBe(1);
});

test.each([
  [
    { status: 429, headers: { 'retry-after': '0' }, body: { error: { message: 'Too fast' } } },
    'infrastructure.model_rate_limit',
    3,
  ],
  [{ status: 502, headers: { 'retry-after': '0' }, body: 'Bad gateway.' }, 'infrastructure.model_server', 3],
  [{ status: 429, headers: { 'retry-after': '3600' }, body: {} }, 'infrastructure.model_rate_limit', 1],
  [
    { status: 429, body: { error: { message: 'Pay first', code: 'insufficient_quota' } } },
    'usage.model_quota',
    1,
  ],
  [{ status: 401, body: { error: { message: 'Incorrect API key.' } } }, 'usage.model_key', 1],
  [{ status: 200, body: 'not JSON' }, 'infrastructure.model_reply', 1],
  [{ status: 200, body: { error: { message: 'No provider' } } }, 'infrastructure.model_reply', 1],
  [{ status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' }, 'infrastructure.model_reply', 1],
] as const)('%j ends with %s', async (fault, code, requests) => {
  await using wire = await startWireServer({ intercept: () => fault });
  const server = new Server({ url: wire.url, retries: 2 });
  const message = expect.not.stringMatching(/\.[.)]/);
  await expect(server.ask('chat/completions', body)).rejects.toMatchObject({ code, message });
  expect(wire.requests.length).toBe(requests);
});

test('a server that is not there is a fault of the infrastructure, which names the address', async () => {
  const { url } = await startWireServer().then(async (wire) => {
    await wire[Symbol.asyncDispose]();
    return wire;
  });
  const error = await new Server({ url, retries: 0 }).ask('models').catch((thrown: unknown) => thrown);
  expect(isInfrastructure(error)).toBe(true);
  expect((error as Error).message).toContain(url);
});

test('a server that says nothing fails after the timeout', async () => {
  await using wire = await startWireServer({ intercept: () => 'hang' });
  const asking = new Server({ url: wire.url, retries: 0, timeout: 50 }).ask('chat/completions', body);
  await expect(asking).rejects.toMatchObject({ code: 'infrastructure.model_unreachable' });
});

test('a server that drips fails after the timeout', async () => {
  const dripping = createServer((_request, response) => {
    const timer = setInterval(() => response.write(' '), 10);
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => dripping.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(dripping.address() as AddressInfo).port}/v1`;
  const began = performance.now();
  const asking = new Server({ url, retries: 0, timeout: 100 }).ask('chat/completions', body);
  await expect(asking).rejects.toThrow(/no whole reply in 0\.1 s/);
  expect(performance.now() - began).toBeLessThan(5_000);
  dripping.closeAllConnections();
  dripping.close();
});

test('an answer of 1.5 GB is refused after 64 MiB', async () => {
  const mib = 'x'.repeat(2 ** 20);
  let sent = 0;
  const pouring = createServer(async (_request, response) => {
    const chunks = function* () {
      for (sent = 0; sent < 1536; sent++) yield mib;
    };
    // The reader leaves.
    await pipeline(chunks, response).catch(() => {});
  });
  await new Promise<void>((resolve) => pouring.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(pouring.address() as AddressInfo).port}/v1`;
  const asking = new Server({ url, retries: 0 }).ask('chat/completions', body);
  await expect(asking).rejects.toMatchObject({
    code: 'infrastructure.model_unreachable',
    message: expect.stringMatching(/^.{0,300}more than 67108864 bytes.{0,300}$/),
  });
  expect(sent).toBeLessThan(200);
  pouring.close();
});

test('a policy of a silent server opens until its deadline or its signal, and not longer', async () => {
  await using wire = await startWireServer({ intercept: () => 'hang' });
  await expect(openAiPolicy({ url: wire.url, deadline: 50 })).rejects.toMatchObject({
    code: 'infrastructure.model_unreachable',
    message: expect.stringMatching(/has not said in 0\.05 s what it can do/),
  });
  const reason = new Error('stopped');
  const controller = new AbortController();
  const opening = openAiPolicy({ url: wire.url, signal: controller.signal });
  setTimeout(() => controller.abort(reason), 20);
  await expect(opening).rejects.toBe(reason);
});

test.each(['hang', { status: 429, headers: { 'retry-after': '60' }, body: {} }] as const)(
  'an abort ends a request and a wait at once, with its reason: %j',
  async (fault) => {
    await using wire = await startWireServer({ intercept: () => fault });
    const reason = new Error('enough');
    const controller = new AbortController();
    // One request at a time: the second is in the queue.
    const server = new Server({ url: wire.url, concurrency: 1 });
    const asking = [0, 1].map(() =>
      server.ask('chat/completions', body, { signal: controller.signal }).catch((thrown: unknown) => thrown),
    );
    await vi.waitFor(() => expect(wire.requests.length).toBe(1));
    await sleep(20);
    controller.abort(reason);
    const start = performance.now();
    expect(await Promise.all(asking)).toEqual([reason, reason]);
    expect(performance.now() - start).toBeLessThan(5000);
    expect(wire.requests.length).toBe(1);
  },
);

test('no more requests than the limit are open at once', async () => {
  await using wire = await startWireServer({ delay: 10 });
  const server = new Server({ url: wire.url, concurrency: 3 });
  await Promise.all(Array.from({ length: 12 }, () => server.ask('chat/completions', body)));
  expect(wire.maxConcurrency).toBe(3);
});

test('the key is sent as a bearer token', async () => {
  await using wire = await startWireServer();
  await new Server({ url: wire.url, apiKey: 'secret' }).ask('models');
  expect(wire.requests[0]!.headers.authorization).toBe('Bearer secret');
  await new Server({ url: wire.url }).ask('models');
  expect(wire.requests[1]!.headers.authorization).toBeUndefined();
});

test('waits double from half a second to half a minute, and vary by a quarter', () => {
  for (const [attempt, wait] of [
    [1, 500],
    [2, 1000],
    [4, 4000],
    [12, 30_000],
  ] as const) {
    for (let i = 0; i < 20; i++) {
      expect(backoff(attempt)).toBeGreaterThanOrEqual(0.75 * wait);
      expect(backoff(attempt)).toBeLessThanOrEqual(1.25 * wait);
    }
  }
});

test('Retry-After is seconds or a date', () => {
  expect(retryAfter({ 'retry-after': '3' })).toBe(3000);
  expect(retryAfter({ 'retry-after-ms': '30', 'retry-after': '1' })).toBe(30);
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(retryAfter({ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, now)).toBe(7000);
  expect(retryAfter({ 'retry-after': 'soon' })).toBeUndefined();
  expect(retryAfter({})).toBeUndefined();
});
