/** A server on loopback that answers as a real server was recorded to answer. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** Bodies are in base64. */
export interface Exchange {
  /** Below `/api/v1/`. */
  path: string;
  request: string;
  status: number;
  type: string;
  reply: string;
}

export interface Recording {
  server: string;
  /** The gradient norms of the walk. */
  norms: number[];
  walk: Exchange[];
  /** Refusals: JSON in place of protobuf, an unknown result, a rank, a reused number, a norm of null, a crash. */
  faults: Record<'json' | 'unknown' | 'rank' | 'reused' | 'notFinite' | 'plain', Exchange>;
}

const file = join(import.meta.dirname, 'recorded/skyrl-0.4.0.json');
export const recording: Recording = JSON.parse(readFileSync(file, 'utf8'));

/** In place of the recorded answer: another one, none, or the end of the connection. */
export type Intercepted = Pick<Exchange, 'status' | 'type' | 'reply'> | 'hang' | 'drop';

export interface ReplayServer extends AsyncDisposable {
  url: string;
  /** Paths, in the order of arrival. */
  requests: string[];
  /** Requests that the recording does not have. */
  strange: string[];
}

/** @param intercept Sees each request with its number among those of its path, from 1. */
export async function startReplay(
  intercept: (path: string, number: number, body: Buffer) => Intercepted | undefined = () => undefined,
): Promise<ReplayServer> {
  const requests: string[] = [];
  const strange: string[] = [];
  // Equal requests, such as polls, are answered in the recorded order; the last answer stays.
  const answers = new Map<string, Exchange[]>();
  for (const each of recording.walk) {
    const key = `${each.path} ${each.request}`;
    answers.set(key, [...(answers.get(key) ?? []), each]);
  }
  const server = createServer(async (incoming, outgoing) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const path = incoming.url!.slice('/api/v1/'.length);
    requests.push(path);
    const number = requests.filter((each) => each === path).length;
    const other = intercept(path, number, body);
    if (other === 'hang') return;
    if (other === 'drop') return void incoming.socket.destroy();
    const left = answers.get(`${path} ${body.toString('base64')}`);
    const answer = other ?? (left && left.length > 1 ? left.shift() : left?.[0]);
    if (!answer) {
      strange.push(`${path} ${body.toString()}`);
      return void outgoing
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"detail":"not recorded"}');
    }
    outgoing.writeHead(answer.status, { 'content-type': answer.type });
    outgoing.end(Buffer.from(answer.reply, 'base64'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    strange,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
