/** A resources server of NeMo Gym in small: a counter for each session, known by its cookie. Any answer can be replaced. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Answers in the place of the server. */
export type Reply = (response: ServerResponse, request: IncomingMessage) => void;

export interface GymServer extends AsyncDisposable {
  url: string;
  /** Bodies by path. */
  bodies: Record<string, Record<string, unknown>[]>;
}

export async function gymServer(replies: Readonly<Record<string, Reply>> = {}): Promise<GymServer> {
  const counts = new Map<string, number>();
  const bodies: GymServer['bodies'] = {};
  const server = createServer(async (request, response) => {
    const path = request.url!;
    const body = JSON.parse((await text(request)) || '{}');
    bodies[path] = [...(bodies[path] ?? []), body];
    const session = /session=(\d+)/.exec(request.headers.cookie ?? '')?.[1] ?? String(counts.size + 1);
    response.setHeader('set-cookie', [`session=${session}; Path=/; HttpOnly`, 'other=1']);
    const say = (answer: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    const reply = replies[path];
    if (reply) reply(response, request);
    else if (path === '/seed_session') {
      counts.set(session, body.start);
      say({});
    } else if (path === '/add.one')
      say({ count: counts.set(session, counts.get(session)! + body.by).get(session) });
    else if (path === '/broken') say({ detail: 'division by zero' }, 500);
    else if (path === '/verify') {
      const isRight = counts.get(session) === body.expected;
      say({ ...body, reward: Number(isRight), is_right: isRight, calls: body.response.output.length });
    } else say({ detail: 'Not Found' }, 404);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
