/** connectMcp: an MCP server's tools as Tools, for as long as the connection lives. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { messageOf, type ToolContext, ToolEnvError } from '@toolenv/core';
import { didYouMean } from '@toolenv/core/schemas';
import { Deadline } from '@toolenv/core/tools';
import pLimit, { type LimitFunction } from 'p-limit';
import { implementation } from './implementation.ts';
import {
  callTool,
  listAllTools,
  type McpClient,
  type McpRequestOptions,
  type McpToolDefinition,
} from './mcp-client.ts';
import { describeServer, type McpServer, toUrl } from './mcp-server.ts';
import { type McpCallProgress, type McpTool, mcpTool } from './mcp-tool.ts';
import { ServerGone, ServerProcess } from './server-process.ts';

export interface McpOptions {
  /** Names of the tools to offer. Default: all. */
  only?: readonly string[];
  /** Milliseconds to start the server, connect and list its tools. Default 30,000. */
  connectTimeout?: number;
  /**
   * Milliseconds that a call may go without an answer or progress. Default: as long as the caller's signal allows, which
   * an environment's `toolTimeout` aborts.
   */
  callTimeout?: number;
  /** Milliseconds that a server process has to end after its input ended, and again after SIGTERM. Default 2,000. */
  closeGrace?: number;
  /**
   * Milliseconds that a server has to answer a ping after a call got no answer; without one it is given up, and its
   * process ended. Default 5,000.
   */
  pingTimeout?: number;
  /** Told how far calls have come, by servers that say so. */
  onProgress?(progress: McpCallProgress): void;
  /** Told the new tools after the server has changed its list. */
  onToolsChanged?(tools: readonly McpTool[]): void;
  /** Ends connecting. */
  signal?: AbortSignal;
}

export interface McpConnection {
  /** The server's tools as last listed, without those that it runs only as tasks (an experiment of MCP 2025-11-25). */
  readonly tools: readonly McpTool[];
  /** Why the connection is of no use any more; `undefined` while it lives. */
  readonly lost: ToolEnvError | undefined;
  /** Of the server's process. */
  readonly pid: number | undefined;
  /** Lists the tools again; done by itself when the server says that they changed, but for a client that was given. */
  refresh(): Promise<readonly McpTool[]>;
  /** Ends the session, and a server process for certain. Calls in flight reject. */
  close(): Promise<void>;
}

/** setTimeout's longest delay: the SDK would else give up on a call after a minute. */
const noTimeout = 2 ** 31 - 1;
/** Milliseconds that a server has to end by itself. */
const defaultGrace = 2_000;

/**
 * Connects to a server over stdio or Streamable HTTP, or takes a connected client.
 *
 * What tools throw when called: `infrastructure.mcp_closed` if the server ended or the connection broke,
 * `infrastructure.mcp_timeout` after `callTimeout`, `infrastructure.mcp_error` for a protocol error that is not about the
 * arguments, `infrastructure.mcp_result` for a result that breaks the tool's schema; the reason of the context's signal
 * after it aborted, which also cancels the call on the server.
 * @throws ToolEnvError `usage.mcp_command`, `usage.mcp_url`, `usage.mcp_tool` (a name in `only`),
 *   `infrastructure.mcp_connect`, `infrastructure.mcp_schema`.
 */
export async function connectMcp(server: McpServer, options: McpOptions = {}): Promise<McpConnection> {
  const name = describeServer(server);
  const { connectTimeout = 30_000 } = options;
  const deadline = new Deadline({
    after: connectTimeout,
    parent: options.signal,
    reason: () => {
      const message = `${name} did not answer within ${connectTimeout / 1000} s: raise connectTimeout, or mend it.`;
      return new ToolEnvError('infrastructure.mcp_connect', message);
    },
  });
  const connection =
    'client' in server
      ? new Connection(server.client, name, options)
      : new OwnConnection(server, name, options);
  try {
    await deadline.race((signal) => connection.open(signal));
    return connection;
  } catch (error) {
    await connection.close();
    if (deadline.signal.aborted) throw deadline.signal.reason;
    if (ToolEnvError.isInstance(error)) throw error;
    const message = `${name} cannot be used: ${connection.why(error)}: check it and how it is started.`;
    throw new ToolEnvError('infrastructure.mcp_connect', message, { cause: error });
  } finally {
    deadline.clear();
  }
}

function noSuchTool(name: string, names: readonly string[], owner: string): ToolEnvError {
  const hint = didYouMean(name, names, 'Its tools');
  return new ToolEnvError('usage.mcp_tool', `${owner} has no tool "${name}". ${hint}`);
}

/** Tools validate results themselves: the SDK's validator knows no JSON Schema 2020-12. */
const trusting: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

/**
 * Version 2 of the SDK has codes of its own for what goes wrong on this side. Those of version 1 are numbers that a
 * server may use too (JSON-RPC 2.0 §5.1), which leaves the message to tell them apart.
 */
function isTimeout(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'REQUEST_TIMEOUT' || (code === -32001 && messageOf(error).endsWith('Request timed out'));
}

function isClosed(error: unknown): boolean {
  if (error instanceof ServerGone) return true;
  const { code } = error as { code?: unknown };
  return code === 'CONNECTION_CLOSED' || (code === -32000 && messageOf(error).endsWith('Connection closed'));
}

/** A connection whose client someone else opened. */
class Connection<Held extends McpClient = McpClient> implements McpConnection {
  tools: readonly McpTool[] = [];
  lost: ToolEnvError | undefined;
  protected readonly client: Held;
  protected readonly name: string;
  protected readonly options: McpOptions;
  /** Of lists, so that an older one never replaces a newer one. */
  readonly #oneAtATime: LimitFunction = pLimit(1);

  constructor(client: Held, name: string, options: McpOptions) {
    this.client = client;
    this.name = name;
    this.options = options;
  }

  get pid(): number | undefined {
    return undefined;
  }

  async open(signal: AbortSignal): Promise<void> {
    const definitions = await this.#oneAtATime(() => this.#list({ signal }));
    const names = definitions.map(({ name }) => name);
    const missing = this.options.only?.find((name) => !names.includes(name));
    if (missing !== undefined) throw noSuchTool(missing, names, this.name);
  }

  async refresh(): Promise<readonly McpTool[]> {
    await this.#oneAtATime(() => this.#list({}));
    return this.tools;
  }

  async close(): Promise<void> {
    this.lost ??= this.closedError('it was closed');
  }

  /** Why something failed, in words. */
  why(error: unknown): string {
    return messageOf(error);
  }

  /** Something went wrong that may mean that the server is gone or hangs. */
  protected suspect(): void {}

  protected listAll(request: McpRequestOptions): Promise<McpToolDefinition[]> {
    return listAllTools(this.client, request);
  }

  protected closedError(why: string): ToolEnvError {
    const message = `${this.name} is not there any more: ${why}: connect again.`;
    return new ToolEnvError('infrastructure.mcp_closed', message);
  }

  /** Everything that the server offers without tasks; {@link tools} become those wanted of them. */
  async #list(request: McpRequestOptions): Promise<McpToolDefinition[]> {
    const { only } = this.options;
    const all = await this.listAll(request);
    const definitions = all.filter(({ execution }) => execution?.taskSupport !== 'required');
    const offered = definitions.filter(({ name }) => only === undefined || only.includes(name));
    this.tools = offered.map((definition) =>
      mcpTool(definition, (name, args, context) => this.#call(name, args, context), this.name),
    );
    return definitions;
  }

  async #call(
    name: string,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Promise<{ [field: string]: unknown }> {
    const { signal, episodeId, callIndex } = context;
    const { callTimeout, onProgress } = this.options;
    signal.throwIfAborted();
    if (this.lost) throw this.lost;
    const request: McpRequestOptions = { signal, timeout: callTimeout ?? noTimeout };
    if (callTimeout !== undefined || onProgress) {
      request.resetTimeoutOnProgress = true;
      request.onprogress = (progress) => onProgress?.({ ...progress, tool: name, episodeId, callIndex });
    }
    try {
      return { ...(await callTool(this.client, { name, arguments: args }, request)) };
    } catch (error) {
      if (signal.aborted) {
        // Maybe the call took too long because the server hangs.
        this.suspect();
        throw signal.reason;
      }
      throw this.#failure(name, error);
    }
  }

  /** What a failed call means: as it came if it is about the arguments, else infrastructure. */
  #failure(tool: string, error: unknown): unknown {
    const { code } = error as { code?: unknown };
    if (code === -32602) return error;
    if (this.lost) return this.lost;
    const call = `Tool "${tool}" of ${this.name}`;
    if (isTimeout(error)) {
      this.suspect();
      const message = `${call} gave no answer within ${this.options.callTimeout} ms: raise callTimeout, or mend it.`;
      return new ToolEnvError('infrastructure.mcp_timeout', message, { cause: error });
    }
    if (isClosed(error)) {
      // Whoever asks for a connection now must not be given this one.
      this.lost ??= this.closedError(this.why(error));
      return this.lost;
    }
    this.suspect();
    const message = `${call} failed: ${messageOf(error)}: look at the server's log.`;
    return new ToolEnvError('infrastructure.mcp_error', message, { cause: error });
  }
}

/** A connection with a client of our own. */
class OwnConnection extends Connection<Client> {
  readonly #transport: ServerProcess | StreamableHTTPClientTransport;
  #closing: Promise<void> | undefined;
  #pinging = false;

  constructor(server: Exclude<McpServer, { client: McpClient }>, name: string, options: McpOptions) {
    super(new Client(implementation, { jsonSchemaValidator: trusting }), name, options);
    this.#transport =
      'command' in server
        ? new ServerProcess(server, options.closeGrace ?? defaultGrace)
        : new StreamableHTTPClientTransport(toUrl(server.url), { requestInit: { headers: server.headers } });
  }

  override get pid(): number | undefined {
    return this.#transport instanceof ServerProcess ? this.#transport.pid : undefined;
  }

  override async open(signal: AbortSignal): Promise<void> {
    this.client.onclose = () => {
      this.lost ??= this.closedError(this.why('the connection was closed'));
    };
    await this.client.connect(this.#transport, { signal, timeout: noTimeout });
    this.client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.#listChanged());
    await super.open(signal);
    // A broken stream of Streamable HTTP is reported here and nowhere else: calls on it would wait for ever.
    if (!(this.#transport instanceof ServerProcess)) this.client.onerror = () => this.suspect();
  }

  override close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  override why(error: unknown): string {
    const end = this.#transport instanceof ServerProcess ? this.#transport.end : undefined;
    return end ?? super.why(error);
  }

  protected override async listAll(request: McpRequestOptions): Promise<McpToolDefinition[]> {
    return this.client.getServerCapabilities()?.tools ? super.listAll(request) : [];
  }

  /** Asks for a sign of life and gives the server up if there is none. */
  protected override suspect(): void {
    if (this.#pinging || this.lost) return;
    this.#pinging = true;
    this.client
      .ping({ timeout: this.options.pingTimeout ?? 5_000 })
      .catch((error: unknown) => {
        this.lost ??= this.closedError(`it does not answer a ping (${this.why(error)})`);
        return this.close();
      })
      .finally(() => {
        this.#pinging = false;
      });
  }

  async #listChanged(): Promise<void> {
    let tools: readonly McpTool[];
    try {
      tools = await this.refresh();
    } catch (error) {
      // The tools that are held are not the server's any more.
      this.lost ??= ToolEnvError.isInstance(error)
        ? error
        : this.closedError(`its changed tools cannot be listed (${this.why(error)})`);
      return this.close();
    }
    this.options.onToolsChanged?.(tools);
  }

  async #close(): Promise<void> {
    await super.close();
    const transport = this.#transport;
    if (transport instanceof StreamableHTTPClientTransport) {
      // The server may be gone; the session then ends by itself.
      const grace = new Deadline({ after: this.options.closeGrace ?? defaultGrace, reason: () => undefined });
      await grace.race(() => transport.terminateSession()).catch(() => {});
      grace.clear();
    }
    await transport.close();
  }
}
