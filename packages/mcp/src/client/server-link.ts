/** ServerLink: a client that this package opens, to a server process or over HTTP. */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Client,
  ClientOptions,
  JsonSchemaValidator,
  jsonSchemaValidator,
  McpSubscription,
} from '@modelcontextprotocol/client';
import { messageOf } from '@toolenv/core';
import { withinDeadline } from '@toolenv/core/tools';
import { isClosed, isOtherHttp, isTimeout, isUndecided, refusalOf, withoutMarkup } from './client-error.ts';
import { HttpTransport, SseTransport } from './http-transport.ts';
import {
  type Link,
  type LinkOwner,
  listAllTools,
  type McpRequestOptions,
  type McpToolDefinition,
  maxPages,
} from './mcp-client.ts';
import { defaultConnectTimeout, type McpOptions, noTimeout } from './mcp-connection.ts';
import { createClient } from './mcp-hooks.ts';
import {
  type ExpandedServer,
  hideSecrets,
  type McpCommand,
  type McpEndpoint,
  type McpUrl,
  withVariables,
} from './mcp-server.ts';
import { ServerProcess } from './server-process.ts';
import { StoredLogin } from './stored-login.ts';
import { withTasks } from './task-calls.ts';

/** Milliseconds that a server has to exit. */
const defaultGrace = 2_000;

/** Longest time, in milliseconds, in which only the question for its protocol is asked. A silent server may be an older one. */
const probeTimeout = 10_000;
/** Milliseconds before a lost stream of changes is opened again. */
const listenAgain = 1_000;

/** Most milliseconds between an answer and a notification that the server sent beside it. */
const notificationsApart = 50;

/** Accepts everything: tools validate results themselves, since one odd schema must not fail the whole list of tools. */
const trusting: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

/**
 * Speaks MCP 2026-07-28 with servers that know it, and 2025-11-25 or older with the others. The first message is
 * `server/discover` (MCP 2026-07-28, basic/lifecycle); a server that does not know this request gets `initialize`.
 */
export class ServerLink implements Link {
  client: Client;
  readonly #server: ExpandedServer;
  readonly #options: McpOptions;
  #transport: ServerProcess | HttpTransport | SseTransport;
  #owner!: LinkOwner;
  #pinging: Promise<void> | undefined;
  /** Pings of {@link heard}: one that is not answered yet, and one that begins after it. */
  #pingPresent: Promise<void> | undefined;
  #pingAhead: Promise<void> | undefined;

  constructor(server: McpEndpoint, options: McpOptions) {
    this.#options = options;
    this.#server = withLogin(withVariables(server));
    this.client = this.#newClient();
    this.#transport = newTransport(this.#server, options);
  }

  get pid(): number | undefined {
    return this.#transport instanceof ServerProcess ? this.#transport.pid : undefined;
  }

  get protocolVersion(): string | undefined {
    return this.client.getNegotiatedProtocolVersion();
  }

  get #isModern(): boolean {
    return this.client.getProtocolEra() === 'modern';
  }

  async connect(signal: AbortSignal, owner: LinkOwner): Promise<void> {
    this.#owner = owner;
    await this.#connect(signal);
    this.client.onclose = () => owner.lose(this.#serverEnd ?? 'the connection was closed');
    this.client.setNotificationHandler('notifications/tools/list_changed', () => owner.listChanged());
  }

  async watch(): Promise<void> {
    // Only onerror reports a broken stream of Streamable HTTP. Calls on it would wait for ever.
    if (!(this.#transport instanceof ServerProcess)) this.client.onerror = () => this.ping();
    const { tools } = this.client.getServerCapabilities() ?? {};
    if (this.#isModern && tools?.listChanged) this.#listen(await this.#subscribe());
  }

  async close(): Promise<void> {
    const transport = this.#transport;
    if (transport instanceof HttpTransport) {
      // Ignore errors: if the server has ended, so has the session.
      const after = this.#options.closeGrace ?? defaultGrace;
      const grace = { after, reason: () => undefined };
      await withinDeadline(grace, () => transport.terminateSession()).catch(() => {});
    }
    await transport.close();
  }

  async kill(): Promise<void> {
    if (this.#transport instanceof ServerProcess) await this.#transport.kill();
  }

  /** If the connection broke, the cause is the end of the server. After any other error, closing may have ended the server. */
  why(error: unknown): string {
    // A server may repeat what it was sent.
    const said = hideSecrets(withoutMarkup(messageOf(error)), this.#server);
    const refusal = hideSecrets(refusalOf(error) ?? '', this.#server);
    if (!said.includes(refusal)) return `${said}: ${refusal}`;
    return (isClosed(error) ? this.#serverEnd : undefined) ?? this.explain(said);
  }

  explain(failure: string): string {
    return this.#transport instanceof ServerProcess ? this.#transport.withStderr(failure) : failure;
  }

  /** @param patience Milliseconds that the server has to answer the question for its protocol. For a process, `Greeting` keeps the time. */
  #newClient(
    initialize: boolean = this.#options.initialize ?? false,
    patience: number = isProcess(this.#server) ? noTimeout : patienceOf(this.#options),
  ): Client {
    const options: ClientOptions = {
      jsonSchemaValidator: trusting,
      listMaxPages: maxPages,
      ...(!initialize && {
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: patience } },
      }),
    };
    return createClient(options, this.#options, (error) => this.#owner.hookFailed(error));
  }

  get #serverEnd(): string | undefined {
    return this.#transport instanceof HttpTransport ? undefined : this.#transport.end;
  }

  async #connect(signal: AbortSignal): Promise<void> {
    try {
      await this.#negotiate(signal);
    } catch (error) {
      const { server } = this.#server;
      if (signal.aborted || !('url' in server) || !isOtherHttp(error)) throw error;
      await this.#connectSse(server, signal).catch(() => {
        throw error;
      });
    }
  }

  /** Some older servers end, or fail, at a first message other than `initialize`. They get a second connection. */
  async #negotiate(signal: AbortSignal): Promise<void> {
    try {
      await this.client.connect(withTasks(this.#transport), { signal, timeout: noTimeout });
    } catch (error) {
      if (signal.aborted || this.#options.initialize || !isUndecided(error)) throw error;
      try {
        await this.#reconnect(this.#newClient(true), signal);
      } catch (refusal) {
        if (signal.aborted || !isTimeout(error)) throw refusal;
        // It was no older server, but a slow one.
        await this.#reconnect(this.#newClient(false, noTimeout), signal);
      }
    }
  }

  async #reconnect(client: Client, signal: AbortSignal): Promise<void> {
    this.client = client;
    this.#transport = newTransport(this.#server, this.#options);
    await client.connect(withTasks(this.#transport), { signal, timeout: noTimeout });
  }

  /** For servers of MCP 2024-11-05 (MCP 2025-11-25, basic/transports#backwards-compatibility). */
  async #connectSse(server: McpUrl, signal: AbortSignal): Promise<void> {
    this.client = this.#newClient(true);
    const transport = new SseTransport(server);
    this.#transport = transport;
    // A server of Streamable HTTP opens a stream too, but says nothing in it.
    const wait = { after: probeTimeout, parent: signal, reason: () => undefined };
    try {
      await withinDeadline(wait, () => this.client.connect(transport, { timeout: noTimeout }));
    } catch (error) {
      await transport.close();
      throw error;
    }
  }

  async listTools(request: McpRequestOptions): Promise<McpToolDefinition[]> {
    if (!this.client.getServerCapabilities()?.tools) return [];
    // The list may be cached (MCP 2026-07-28), but it is only asked for when a new list is needed.
    return listAllTools(this.client, { ...request, cacheMode: 'refresh' });
  }

  /** Some servers send their notifications beside their answers: also over stdio, but there before the answer to a ping. */
  async heard(): Promise<void> {
    const { tools } = this.client.getServerCapabilities() ?? {};
    if (!tools?.listChanged) return;
    const pinged = this.#transport instanceof HttpTransport ? [] : [this.#pingAfter()];
    await Promise.race([sleep(notificationsApart), ...pinged]);
  }

  /** A ping that begins now or, for all that ask meanwhile, when the present ping is answered. It never rejects. */
  #pingAfter(): Promise<void> {
    const ask = (): Promise<void> => {
      this.#pingAhead = undefined;
      const asking = this.#askForLife()
        .catch(() => {})
        .then(() => {
          if (this.#pingPresent === asking) this.#pingPresent = undefined;
        });
      this.#pingPresent = asking;
      return asking;
    };
    if (!this.#pingPresent) return ask();
    this.#pingAhead ??= this.#pingPresent.then(ask);
    return this.#pingAhead;
  }

  /** Pings the server, and closes the connection if there is no answer. */
  async ping(): Promise<void> {
    if (this.#owner.lost) return;
    this.#pinging ??= this.#ping().finally(() => {
      this.#pinging = undefined;
    });
    await this.#pinging;
  }

  async #ping(): Promise<void> {
    try {
      await this.#askForLife();
    } catch (error) {
      this.#owner.lose(`it does not answer a ping (${this.why(error)})`);
      this.#owner.close().catch(() => {});
    }
  }

  /** MCP 2026-07-28 has no ping, but every server answers server/discover. */
  async #askForLife(): Promise<void> {
    const request = { timeout: this.#options.pingTimeout ?? 5_000 };
    await (this.#isModern ? this.client.discover(request) : this.client.ping(request));
  }

  /** Asks a server of MCP 2026-07-28 to report changes of its list. Older servers do so without being asked. */
  #subscribe(): Promise<McpSubscription | undefined> {
    return this.client.listen({ toolsListChanged: true }).catch(() => undefined);
  }

  /** Subscribes again when the stream of the reports breaks. Changes that came between are listed then. */
  async #listen(opened: McpSubscription | undefined): Promise<void> {
    let subscription = opened;
    while ((await subscription?.closed) === 'remote') {
      await sleep(listenAgain, undefined, { ref: false });
      if (this.#owner.lost) return;
      subscription = await this.#subscribe();
      if (subscription) await this.#owner.listChanged();
    }
  }
}

function newTransport(expanded: ExpandedServer, options: McpOptions): ServerProcess | HttpTransport {
  const { closeGrace = defaultGrace, resumeTimeout } = options;
  return isProcess(expanded)
    ? new ServerProcess(expanded, closeGrace, patienceOf(options))
    : new HttpTransport(expanded.server as McpUrl, resumeTimeout);
}

/** A third of the time for the question, so that two thirds are left for an older server that does not answer it. */
function patienceOf({ connectTimeout = defaultConnectTimeout }: McpOptions): number {
  return Math.min(probeTimeout, connectTimeout / 3);
}

/** Without other authorization, a server gets the tokens of `toolenv mcp login`. */
function withLogin(expanded: ExpandedServer): ExpandedServer {
  const { server } = expanded;
  if (!('url' in server) || server.authProvider) return expanded;
  if (Object.keys(server.headers ?? {}).some((name) => name.toLowerCase() === 'authorization'))
    return expanded;
  const authProvider = StoredLogin.of(server.url);
  return authProvider ? { ...expanded, server: { ...server, authProvider } } : expanded;
}

function isProcess(expanded: ExpandedServer): expanded is ExpandedServer<McpCommand> {
  return 'command' in expanded.server;
}
