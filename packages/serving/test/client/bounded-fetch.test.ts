/** boundedFetch: answers up to a limit, whatever their length says. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { AnswerTooLarge, boundedFetch } from '../../src/client/index.ts';

async function answered<T>(listener: RequestListener, read: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await read(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('an answer of the limit is whole, with its status and headers', async () => {
  const listener: RequestListener = (_, response) =>
    response.writeHead(418, { 'x-own': '1' }).end('x'.repeat(100));
  const [status, own, text] = await answered(listener, async (url) => {
    const response = await boundedFetch(url, undefined, 100);
    return [response.status, response.headers.get('x-own'), await response.text()] as const;
  });
  expect([status, own, text.length]).toEqual([418, '1', 100]);
});

test('a byte more is an error, and ends the connection', async () => {
  let closed: Promise<unknown> | undefined;
  const listener: RequestListener = (_, response) => {
    closed = once(response, 'close');
    response.write('x'.repeat(101));
  };
  await answered(listener, async (url) => {
    const response = await boundedFetch(url, undefined, 100);
    await expect(response.text()).rejects.toThrow(new AnswerTooLarge(100));
    await closed;
  });
});

test('counts the bytes that a compressed answer unfolds to', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  expect(bomb.length).toBeLessThan(20_000);
  const listener: RequestListener = (_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
  await answered(listener, async (url) => {
    const response = await boundedFetch(url, undefined, 1_000_000);
    await expect(response.arrayBuffer()).rejects.toThrow('more than 1000000 bytes');
  });
});

test('an answer without a body stays as it is', async () => {
  const status = await answered(
    (_, response) => response.writeHead(204).end(),
    async (url) => (await boundedFetch(url, undefined, 0)).status,
  );
  expect(status).toBe(204);
});
