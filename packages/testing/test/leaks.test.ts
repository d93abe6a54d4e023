/** What counts as left behind after work is done. */
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { leaksOf } from '../src/leaks.ts';

async function serving(work: (port: number) => Promise<void>): Promise<void> {
  const server = createServer((_, response) => response.end('answer'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await work((server.address() as AddressInfo).port);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('an open socket is left behind, and an idle connection that Node keeps for the next request is not', async () => {
  await serving(async (port) => {
    const ask = async () => {
      const [response] = await once(get(`http://127.0.0.1:${port}`), 'response');
      response.resume();
      await once(response, 'close');
    };
    await ask();
    await new Promise((resolve) => setTimeout(resolve, 50));
    // Uses the connection of the request before.
    expect(await leaksOf(ask)).toEqual([]);
    let socket: ReturnType<typeof connect> | undefined;
    const open = async () => {
      socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
    };
    // Both ends are in this process.
    expect(await leaksOf(open)).toEqual(['2 × socket']);
    socket?.destroy();
  });
});
