/** Gateway: the HTTP endpoint at which agents find their model. Each episode has a key of its own. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  clientKey,
  completeServeOptions,
  HttpAccess,
  type HttpListener,
  listen,
  readBody,
  replyJson,
  requestUrl,
} from '@toolenv/serving';
import { Exchange } from './exchange.ts';
import { countTokens } from './wire/anthropic-messages.ts';
import { countPath, exactBody, notServed, readRequest, replyProblem, servedAt } from './wire/api-formats.ts';
import { BadRequest } from './wire/model-request.ts';
import { type Problem, StoredItems } from './wire/wire.ts';

/** A request has a whole history, again and again. */
const maxBodyBytes = 64 * 2 ** 20;

/** What a client is told of a bug of the gateway. */
export const gatewayFailed: Problem = {
  status: 500,
  message: 'The gateway failed, and the episode is aborted with the cause.',
};

/** An episode's place at the gateway. */
export interface Door {
  readonly key: string;
  /** Further requests with the key are refused. */
  close(): void;
}

/** Receives the requests of an episode. */
export interface Guest {
  arrive(exchange: Exchange): void;
  /** Called when a request asked for what the policy does not have, which the client has been told. */
  refused(why: BadRequest): void;
  /** Called when the gateway itself has failed to read a request, which the client has been told. */
  failed(why: unknown): void;
}

export class Gateway {
  readonly #guests: Map<string, Guest & { stored: StoredItems }> = new Map();
  readonly #heartbeat: number | undefined;
  readonly #access: HttpAccess;
  #http: HttpListener | undefined;

  private constructor(heartbeat: number | undefined) {
    this.#heartbeat = heartbeat;
    this.#access = new HttpAccess({ host: '127.0.0.1' });
  }

  /** @param options.heartbeat Milliseconds between the signs of life that waiting clients get. Default 15,000. */
  static async open({ heartbeat }: { heartbeat?: number } = {}): Promise<Gateway> {
    const gateway = new Gateway(heartbeat);
    const options = completeServeOptions({ port: 0, maxSessions: 100_000 }, 'gateway');
    gateway.#http = await listen(options, (request, response) => void gateway.#serve(request, response));
    return gateway;
  }

  /** `http://127.0.0.1:<port>`. Base URLs of OpenAI's clients end in `/v1`. */
  get origin(): string {
    return this.#http!.origin;
  }

  /** Lets an episode in. */
  admit({ arrive, refused, failed }: Guest): Door {
    const key = `toolenv-${randomBytes(16).toString('hex')}`;
    this.#guests.set(key, { arrive, refused, failed, stored: new StoredItems() });
    return { key, close: () => void this.#guests.delete(key) };
  }

  async close(): Promise<void> {
    await this.#http!.close();
  }

  async #serve(http: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = requestUrl(http);
    const path = pathname.replace(/\/$/, '');
    const wire = servedAt(path);
    const refuse = (status: number, message: string, field?: string) =>
      replyProblem(response, { status, message, field }, wire);
    if (!this.#access.isAllowed(http)) return refuse(403, 'This host name or origin is not served.');
    // A client never tries again after 400, as it may after 401 or 404.
    const guest = this.#guests.get(clientKey(http));
    if (!guest)
      return refuse(400, 'No episode has this key: it has ended, or the key is not that of the agent.');
    if (path === '/v1/models')
      return replyJson(response, 200, { object: 'list', data: [{ id: 'policy', object: 'model' }] });
    if (!wire || http.method !== 'POST')
      return replyProblem(response, notServed(http, 'GET /v1/models'), wire);
    const body = await readBody(http, maxBodyBytes, exactBody);
    if (body === 'broken') return;
    if (typeof body === 'string')
      return refuse(
        400,
        body === 'not_json' ? 'The body is not JSON.' : `The body has more than ${maxBodyBytes} bytes.`,
      );
    try {
      if (path === countPath) return replyJson(response, 200, countTokens(body.json, guest.stored));
      const request = readRequest(wire, body.json, guest.stored);
      const exchange = new Exchange({
        request,
        wire,
        stored: guest.stored,
        http,
        response,
        heartbeat: this.#heartbeat,
      });
      exchange.keepAlive();
      guest.arrive(exchange);
    } catch (error) {
      if (error instanceof BadRequest) {
        guest.refused(error);
        return refuse(400, error.message, error.field);
      }
      guest.failed(error);
      replyProblem(response, gatewayFailed, wire);
    }
  }
}
