/**
 * StandIn: a server on the loopback that speaks the part of a vendor's API that the vendor's own client uses. Its machines run commands
 * in bubblewrap. It can be told to misbehave.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { MachineGone, StandInMachine } from './stand-in-machine.ts';

/** `error`: 500. `hang`: no answer. `drop`: the connection breaks within the answer. `vanish`: the machines end. `busy`: 429 with
 * Retry-After. `garbage`: JSON of something else. `flood`: a gigabyte. `deny`: 401 that repeats the key. `late`: does it, and answers 500. */
export type FaultKind = 'error' | 'hang' | 'drop' | 'vanish' | 'busy' | 'garbage' | 'flood' | 'deny' | 'late';

export interface Fault {
  kind: FaultKind;
  /** Matches `POST /v2/sandboxes`. */
  at: RegExp;
  /** Requests that are answered well before. Default 0. */
  after?: number;
  /** Requests that are answered badly. Default: all. */
  times?: number;
}

export interface ApiRequest {
  method: string;
  url: URL;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** A vendor's API. */
export interface Api {
  key: string;
  /** @throws MachineGone */
  answer(request: ApiRequest, response: ServerResponse, standIn: StandIn): Promise<void>;
  /** How the service says that a machine has ended. */
  gone(response: ServerResponse): void;
  /** How an answer of a gigabyte begins. */
  flood(request: ApiRequest): { type: string; head: Buffer };
}

export class StandIn {
  readonly machines: Map<string, StandInMachine> = new Map();
  /** Requests so far, as `POST /v2/sandboxes`. */
  readonly requests: string[] = [];
  /** How many seconds of a machine's time to live pass in a second. */
  speed = 1;
  readonly #api: Api;
  readonly #server: Server;
  #faults: Fault[] = [];

  private constructor(api: Api) {
    this.#api = api;
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  static async start(api: Api): Promise<StandIn> {
    const made = new StandIn(api);
    await new Promise<void>((settle) => made.#server.listen(0, '127.0.0.1', settle));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Replaces the faults. */
  misbehave(...faults: Fault[]): void {
    this.#faults = faults.map((fault) => ({ ...fault }));
  }

  make(asked: { labels?: Record<string, string> } & Record<string, unknown>): StandInMachine {
    const id = randomUUID();
    const onEnd = () => this.machines.delete(id);
    const machine = new StandInMachine(id, asked, { speed: this.speed, onEnd });
    this.machines.set(id, machine);
    return machine;
  }

  /** @throws MachineGone */
  machine(id: unknown): StandInMachine {
    const found = this.machines.get(String(id));
    if (!found) throw new MachineGone();
    return found;
  }

  async stop(): Promise<void> {
    for (const machine of [...this.machines.values()]) machine.end();
    this.#server.closeAllConnections();
    await new Promise((settle) => this.#server.close(settle));
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', this.url);
    const method = incoming.method ?? '';
    const name = `${method} ${url.pathname}`;
    this.requests.push(name);
    response.on('error', () => {});
    try {
      const parts: Buffer[] = [];
      for await (const part of incoming) parts.push(part as Buffer);
      const request: ApiRequest = { method, url, headers: incoming.headers, body: Buffer.concat(parts) };
      const fault = this.#faultAt(name);
      if (!fault || (await this.#misbehave(fault, request, response)))
        await this.#api.answer(request, response, this);
    } catch (error) {
      if (response.destroyed) return;
      if (error instanceof MachineGone) {
        // A stream that has begun breaks.
        if (response.headersSent) response.destroy();
        else this.#api.gone(response);
      } else if (!response.headersSent) sendJson(response, 500, { code: 500, message: String(error) });
      else response.destroy();
    }
  }

  #faultAt(name: string): FaultKind | undefined {
    const fault = this.#faults.find(({ at, times = 1 }) => times > 0 && at.test(name));
    if (!fault) return undefined;
    if ((fault.after ?? 0) > 0) {
      fault.after!--;
      return undefined;
    }
    fault.times = (fault.times ?? Number.POSITIVE_INFINITY) - 1;
    return fault.kind;
  }

  /** @returns Whether the request is to be answered all the same. */
  async #misbehave(kind: FaultKind, request: ApiRequest, response: ServerResponse): Promise<boolean> {
    const key = String(request.headers['x-api-key'] ?? request.headers.authorization);
    switch (kind) {
      case 'error':
        sendJson(response, 500, { code: 500, message: 'the service is broken' });
        return false;
      case 'busy':
        sendJson(response, 429, { code: 429, message: 'too many requests' }, { 'retry-after': '1' });
        return false;
      case 'deny':
        sendJson(response, 401, { code: 401, message: `the key ${key} is not valid` });
        return false;
      case 'garbage':
        sendJson(response, 200, ['garbage']);
        return false;
      case 'hang':
        return false;
      case 'vanish':
        for (const machine of [...this.machines.values()]) machine.end();
        return true;
      case 'drop': {
        const write = response.write.bind(response) as (part: Buffer, done: () => void) => boolean;
        const breakOff = (part: Buffer | string) => {
          write(Buffer.from(part as string).subarray(0, -1), () => response.destroy());
          return response;
        };
        response.write = breakOff as never;
        response.end = breakOff as never;
        return true;
      }
      case 'late': {
        const end = response.end.bind(response);
        response.writeHead = (() => response) as never;
        response.end = (() => {
          response.statusCode = 500;
          return end('{"code":500,"message":"lost"}');
        }) as never;
        return true;
      }
      case 'flood':
        await flood(response, this.#api.flood(request));
        return false;
    }
  }
}

async function flood(
  response: ServerResponse,
  { type, head }: { type: string; head: Buffer },
): Promise<void> {
  response.writeHead(200, { 'content-type': type });
  response.write(head);
  const part = Buffer.alloc(2 ** 20, 'a');
  const closed = once(response, 'close');
  for (let sent = 0; sent < 2 ** 30 && !response.destroyed; sent += part.length) {
    if (!response.write(part)) await Promise.race([once(response, 'drain'), closed]);
    // At 30 MB a second: E2B's client holds all that comes until the call's time is over, so a fast machine would hold more.
    await delay(30);
  }
  response.end();
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
