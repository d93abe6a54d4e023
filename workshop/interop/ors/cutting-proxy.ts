/** A proxy that breaks off a connection in the middle of an answer. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

export interface CuttingProxy {
  url: string;
  /** Breaks off the next connection on which so many bytes have been answered after this call. */
  cutAfter(bytes: number): void;
  /** Connections that were broken off. */
  cuts: number;
  close(): void;
}

export async function cuttingProxy(port: number): Promise<CuttingProxy> {
  let left = Number.POSITIVE_INFINITY;
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    client.pipe(upstream);
    upstream.on('data', (bytes) => {
      left -= bytes.length;
      if (left > 0) return void client.write(bytes);
      left = Number.POSITIVE_INFINITY;
      proxy.cuts += 1;
      client.destroy();
      upstream.destroy();
    });
    upstream.on('end', () => client.end());
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.on('close', () => upstream.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutAfter(bytes) {
      left = bytes;
    },
    cuts: 0,
    close: () => void server.close(),
  };
  return proxy;
}
