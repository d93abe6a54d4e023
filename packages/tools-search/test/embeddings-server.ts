/** A loopback server of the OpenAI embeddings protocol. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const topics = [
  ['car', 'automobile', 'vehicle'],
  ['river', 'stream', 'water'],
  ['king', 'queen', 'monarch'],
];

/** Counts which topics the words of a text belong to. */
export function embed(text: string): number[] {
  const words = text.toLowerCase().match(/\w+/g) ?? [];
  return [...topics.map((topic) => words.filter((word) => topic.includes(word)).length), 0.01];
}

export interface EmbeddingsServer {
  url: string;
  requests: string[][];
  /** Replies to send before real ones: a status, or a body. */
  faults: (number | string)[];
  close(): Promise<void>;
}

/** @param vectorOf The vector of a text. */
export async function startEmbeddings(
  vectorOf: (text: string) => number[] = embed,
): Promise<EmbeddingsServer> {
  const requests: string[][] = [];
  const faults: (number | string)[] = [];
  const server: Server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { input } = JSON.parse(Buffer.concat(parts).toString()) as { input: string[] };
    requests.push(input);
    const fault = faults.shift();
    if (typeof fault === 'number') response.statusCode = fault;
    // Servers may reply in any order.
    const data = input.map((text, index) => ({ index, embedding: vectorOf(text) })).reverse();
    response.end(typeof fault === 'string' ? fault : JSON.stringify({ data }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    faults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
