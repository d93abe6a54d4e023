/** serveEmbeddings: a loopback server of the OpenAI embeddings protocol. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EmbeddingsServer {
  url: string;
  close(): Promise<void>;
}

export async function serveEmbeddings(embed: (text: string) => Float32Array): Promise<EmbeddingsServer> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { input } = JSON.parse(Buffer.concat(parts).toString()) as { input: string[] };
    const data = input.map((text, index) => ({ index, embedding: Array.from(embed(text)) }));
    response.end(JSON.stringify({ data }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
