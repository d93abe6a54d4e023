/** A client of raw frames, for tests of a server. */
import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';

/** The fields that tests read. Each frame has some of them. */
export interface Frame {
  type: string;
  data: {
    observation: {
      tools: { name: string }[];
      result: { data: string };
      calls: unknown;
      messages: { content: string }[];
    };
    reward: number;
    metadata: { task: number };
    code: string;
    step_count: number;
  };
}

export class FrameClient {
  readonly socket: WebSocket;
  readonly #frames: Frame[] = [];
  readonly #waiting: ((frame: Frame) => void)[] = [];
  readonly closed: Promise<number>;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as Frame;
      const waiting = this.#waiting.shift();
      if (waiting) waiting(frame);
      else this.#frames.push(frame);
    });
  }

  static async connect(url: string, options: ClientOptions = {}, query = ''): Promise<FrameClient> {
    const client = new FrameClient(new WebSocket(`${url.replace('http', 'ws')}/ws${query}`, options));
    await once(client.socket, 'open');
    return client;
  }

  next(): Promise<Frame> {
    const frame = this.#frames.shift();
    if (frame) return Promise.resolve(frame);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  ask(type: string, data: object = {}): Promise<Frame> {
    this.send({ type, data });
    return this.next();
  }

  call(name: string, args: object = {}): Promise<Frame> {
    return this.ask('step', { type: 'call_tool', tool_name: name, arguments: args });
  }
}
