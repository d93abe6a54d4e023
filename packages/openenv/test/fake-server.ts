/** A server that speaks as a test tells it: OpenEnv's HTTP schemas, and a reply for each frame. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface FakeServer {
  url: string;
  /** Frames that arrived, of all sockets. */
  frames: { type: string; data: Record<string, unknown> }[];
  sockets: Set<WebSocket>;
  headers: (string | undefined)[];
  close(): Promise<void>;
}

export interface FakeServerOptions {
  action?: object;
  /** Called for each new socket. */
  connect?(socket: WebSocket): void;
  /** The text to send, or nothing. */
  reply(
    frame: { type: string; data: Record<string, unknown> },
    socket: WebSocket,
  ): string | object | undefined;
}

export async function fakeServer({ action, connect, reply }: FakeServerOptions): Promise<FakeServer> {
  const frames: FakeServer['frames'] = [];
  const headers: FakeServer['headers'] = [];
  const http = createServer((request, response) => {
    headers.push(request.headers.authorization);
    response.setHeader('content-type', 'application/json');
    const schema = { action: action ?? { title: 'CallToolAction' }, observation: {}, state: {} };
    response.end(
      JSON.stringify(request.url === '/schema' ? schema : { name: 'fake', description: 'A fake.' }),
    );
  });
  const sockets = new WebSocketServer({ server: http, path: '/ws' });
  sockets.on('connection', (socket, request) => {
    headers.push(request.headers.authorization);
    connect?.(socket);
    socket.on('message', (data) => {
      const frame = { data: {}, ...JSON.parse(String(data)) };
      if (frame.type === 'close') return;
      frames.push(frame);
      const answer = reply(frame, socket);
      if (answer !== undefined) socket.send(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    frames,
    headers,
    sockets: sockets.clients,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** A frame with an observation. */
export function observed(observation: object, reward: unknown = null, done: unknown = false): object {
  return { type: 'observation', data: { observation, reward, done } };
}

export const listed: object = observed({
  tools: [
    {
      name: 'look',
      description: 'Looks.',
      input_schema: { type: 'object', properties: { at: { type: 'string' } } },
    },
  ],
});
