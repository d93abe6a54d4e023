/** servePolicy: serves a policy to clients of OpenAI's and Anthropic's APIs, as model servers do. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf, type Policy, ToolEnvError } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import { untilAborted } from '@toolenv/core/tools';
import {
  HttpAccess,
  type HttpListener,
  listen,
  prometheusType,
  readBody,
  replyJson,
  requestUrl,
  writeToStderr,
} from '@toolenv/serving';
import { Exchange } from '../exchange.ts';
import { countTokens } from '../wire/anthropic-messages.ts';
import { countPath, exactBody, notServed, readRequest, replyProblem, servedAt } from '../wire/api-formats.ts';
import { BadRequest, type ModelReply } from '../wire/model-request.ts';
import { type Problem, StoredItems, type Wire } from '../wire/wire.ts';
import { Conversations } from './conversations.ts';
import { Places, PolicyMetrics } from './policy-metrics.ts';
import { samplingOf } from './sampling.ts';
import {
  type CompleteServePolicyOptions,
  type ServePolicyOptions,
  servePolicySchema,
} from './serve-policy-options.ts';

/** Characters of answers that clients of the Responses API can name. */
const maxStored = 2 ** 26;
/** Milliseconds between looks for idle conversations, at most. */
const idleCheck = 10_000;
/** Paths for health checks and metrics, which need no token. */
const probePaths: readonly string[] = ['/health', '/metrics'];

/** A served policy. */
export interface PolicyService {
  /** `http://<address>:<port>`, the base URL of Anthropic's clients. Those of OpenAI's APIs end in `/v1`. */
  readonly url: string;
  /** Breaks off the requests that are open. The policy stays open. */
  close(): Promise<void>;
}

/**
 * Serves `POST /v1/chat/completions`, `/v1/responses` and `/v1/messages`, streamed and not, `GET /v1/models`, `GET /health` and
 * `GET /metrics`. Requests that arrive together reach the policy together, which batches them.
 * @throws ToolEnvError `usage.serve_token`, `usage.serve_host`, `usage.serve_port`, `usage.bad_option`, `usage.unknown_option`.
 */
export async function servePolicy(
  policy: Policy,
  { onError = writeToStderr, heartbeat, ...given }: ServePolicyOptions = {},
): Promise<PolicyService> {
  const options = completeOptions(servePolicySchema, given, 'servePolicy');
  const server = new PolicyServer(policy, options, { onError, heartbeat });
  const listener = await server.open();
  return { url: listener.origin, close: () => server.close(listener) };
}

class PolicyServer {
  readonly #policy: Policy;
  readonly #options: CompleteServePolicyOptions;
  readonly #onError: (error: unknown) => void;
  readonly #heartbeat: number | undefined;
  readonly #access: HttpAccess;
  readonly #places: Places;
  readonly #conversations: Conversations;
  readonly #stored: StoredItems = new StoredItems(maxStored);
  readonly #metrics: PolicyMetrics = new PolicyMetrics();
  #sweep: NodeJS.Timeout | undefined;

  constructor(
    policy: Policy,
    options: CompleteServePolicyOptions,
    { onError, heartbeat }: { onError(error: unknown): void; heartbeat: number | undefined },
  ) {
    this.#heartbeat = heartbeat;
    this.#policy = policy;
    this.#options = options;
    this.#onError = onError;
    this.#access = new HttpAccess(options);
    this.#places = new Places({ most: options.concurrency, queue: options.queue });
    this.#conversations = new Conversations(policy, options.conversations, onError);
  }

  async open(): Promise<HttpListener> {
    const listener = await listen(this.#options, (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        this.#onError(error);
        replyProblem(response, failed);
      });
    });
    const { idleTimeout } = this.#options;
    const look = () => this.#conversations.forgetIdle(idleTimeout);
    this.#sweep = setInterval(look, Math.min(idleTimeout, idleCheck)).unref();
    return listener;
  }

  async close(listener: HttpListener): Promise<void> {
    clearInterval(this.#sweep);
    await listener.close();
    this.#conversations.forgetIdle(0);
  }

  async #serve(http: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = requestUrl(http);
    const path = pathname.replace(/\/$/, '');
    const wire = servedAt(path);
    if (this.#access.answerPreflight(http, response)) return;
    const refusal = this.#access.refusal(http, { isOpen: probePaths.includes(path) });
    if (refusal) return replyProblem(response, { ...refusal, message: refusal.detail }, wire);
    if (http.method === 'POST' && wire) return this.#ask(path, wire, http, response);
    if (http.method === 'GET' || http.method === 'HEAD') {
      if (path === '/health') return replyJson(response, 200, { status: 'healthy' });
      if (path === '/metrics')
        return void response.writeHead(200, { 'content-type': prometheusType }).end(this.#metricsText());
      if (path === '/v1/models') {
        const model = { id: this.#options.modelName, object: 'model', created: 0, owned_by: 'toolenv' };
        return replyJson(response, 200, { object: 'list', data: [model] });
      }
    }
    replyProblem(response, notServed(http, 'GET /v1/models, GET /health and GET /metrics'));
  }

  /** Answers a request to the policy, and counts it. */
  async #ask(path: string, wire: Wire, http: IncomingMessage, response: ServerResponse): Promise<void> {
    response.once('close', () => {
      this.#metrics.count(path, response.writableFinished ? response.statusCode : 'left');
    });
    const begun = performance.now();
    try {
      const json = await this.#bodyOf(http, response);
      if (json === undefined) return;
      if (path === countPath) return replyJson(response, 200, countTokens(json, this.#stored));
      const request = readRequest(wire, json, this.#stored);
      this.#refuseIfFull(response);
      const exchange = new Exchange({
        ...{ request, wire, http, response },
        stored: this.#stored,
        heartbeat: this.#heartbeat,
      });
      try {
        const reply = await this.#answer(exchange);
        this.#metrics.answered(reply, (performance.now() - begun) / 1000);
        await exchange.answer(reply);
      } catch (error) {
        if (!exchange.isGone) exchange.refuse(this.#problemOf(error));
      }
    } catch (error) {
      replyProblem(response, this.#problemOf(error), wire);
    }
  }

  /** @throws Refused. Resolves to `undefined` if the client is gone, or Node has answered. */
  async #bodyOf(http: IncomingMessage, response: ServerResponse): Promise<unknown> {
    this.#refuseIfFull(response);
    const { maxBodyBytes } = this.#options;
    const body = await readBody(http, maxBodyBytes, exactBody);
    if (body === 'broken') return undefined;
    if (body === 'not_json') throw new Refused({ status: 400, message: 'The body is not JSON.' });
    if (body === 'too_large') {
      const message = `The body has more than ${maxBodyBytes} bytes: shorten the conversation.`;
      throw new Refused({ status: 413, message });
    }
    return body.json;
  }

  /** Waits for a place, and lets the policy act. */
  async #answer(exchange: Exchange): Promise<ModelReply> {
    const { request, signal } = exchange;
    const sampling = samplingOf(request, this.#options);
    await this.#places.enter(signal);
    exchange.keepAlive();
    try {
      // A policy may ignore the signal.
      return await untilAborted(signal, async () => {
        const { observation, episodeId, end, drop } = this.#conversations.begin(request);
        try {
          return end(
            await this.#policy.act(observation, { ...sampling, ...(episodeId && { episodeId }), signal }),
          );
        } catch (error) {
          drop();
          throw error;
        }
      });
    } finally {
      this.#places.leave();
    }
  }

  #refuseIfFull(response: ServerResponse): void {
    if (!this.#places.isFull) return;
    response.setHeader('retry-after', '1');
    throw new Refused({ status: 429, message: 'The server is busy: try again in a second.' });
  }

  #problemOf(error: unknown): Problem {
    if (error instanceof Refused) return error.problem;
    if (error instanceof BadRequest) return { status: 400, message: error.message, field: error.field };
    const isOfRequest = ToolEnvError.isInstance(error) && /^(usage|context)\./.test(error.code);
    if (isOfRequest) {
      const code = error.code === 'context.overflow' ? 'context_length_exceeded' : undefined;
      return { status: 400, message: messageOf(error), code };
    }
    this.#onError(error);
    return failed;
  }

  #metricsText(): string {
    const { taken: inFlight, waiting } = this.#places;
    return this.#metrics.text({ inFlight, waiting, conversations: this.#conversations.size });
  }
}

const failed: Problem = { status: 500, message: 'The policy failed: see the log of the server.' };

/** A request that is refused for another reason than what it asks. */
class Refused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}
