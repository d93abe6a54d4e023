/** openSocketDoor: a Unix socket that leads to one server at the loopback of this machine, for programs in a network of their own. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A socket of the file system that is open until it is disposed. */
export interface SocketDoor extends AsyncDisposable {
  /** Path of the socket, in a folder that only this user may enter. */
  readonly path: string;
}

/** @param port Of the server, at 127.0.0.1. */
export async function openSocketDoor(port: number): Promise<SocketDoor> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-door-'));
  const path = join(folder, 'model.sock');
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const model = connect(port, '127.0.0.1');
    for (const each of [client, model]) {
      open.add(each);
      each.on('close', () => open.delete(each));
    }
    client.on('error', () => model.destroy());
    model.on('error', () => client.destroy());
    client.pipe(model).pipe(client);
  });
  server.listen(path);
  await once(server, 'listening');
  return {
    path,
    async [Symbol.asyncDispose]() {
      for (const each of open) each.destroy();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
