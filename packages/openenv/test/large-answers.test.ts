/** OpenEnv servers that describe themselves without end. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { openEnv } from '@toolenv/core';
import { expect, test } from 'vitest';

test.each(['/schema', '/metadata'])('an answer of 1.5 GB to %s is refused after 64 MiB', async (path) => {
  const mib = 'x'.repeat(2 ** 20);
  let sent = 0;
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url !== path) return response.end('{"action": {"title": "CallToolAction"}}');
    response.write('{"action": "');
    const chunks = function* () {
      for (; sent < 1536; sent++) yield mib;
    };
    // The reader leaves.
    await pipeline(chunks, response).catch(() => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(openEnv(`openenv:${url}`)).rejects.toMatchObject({
      code: 'infrastructure.openenv_connect',
      message: expect.stringContaining(`GET ${path}: the answer has more than 67108864 bytes`),
    });
    expect(sent).toBeLessThan(200);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
