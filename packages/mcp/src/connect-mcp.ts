/** connectMcp: offers an MCP server's tools as Tools while the connection is open. */
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
  /** Milliseconds for starting the server, connecting and listing its tools. Default 30,000. */
  connectTimeout?: number;
  /**
   * Milliseconds that a call may take without an answer or a progress report. Default: until the caller's signal aborts,
   * which happens after an environment's `toolTimeout`.
   */
  callTimeout?: number;
  /** Milliseconds that a server process has to exit after its input ends, and again after SIGTERM. Default 2,000. */
  closeGrace?: number;
  /**
   * After a call without an answer, milliseconds that a server has to answer a ping. A server that does not is abandoned,
   * and its process is ended. Default 5,000.
   */
  pingTimeout?: number;
  /** Called with the progress of calls, if the server reports it. */
  onProgress?(progress: McpCallProgress): void;
  /** Called with the new tools after the server has changed its list. */
  onToolsChanged?(tools: readonly McpTool[]): void;
  /** Cancels connecting. */
  signal?: AbortSignal;
}

export interface McpConnection {
  /** The server's tools as last listed, except tools that run only as tasks (experimental in MCP 2025-11-25). */
  readonly tools: readonly McpTool[];
  /** Why the connection can no longer be used; `undefined` while it is open. */
  readonly lost: ToolEnvError | undefined;
  /** Process id of a server that was started as a process. */
  readonly pid: number | undefined;
  /** Lists the tools again. Happens automatically when the server reports a change, unless the client was given. */
  refresh(): Promise<readonly McpTool[]>;
  /** Ends the session and the server process. Calls in flight reject. */
  close(): Promise<void>;
}

/** Longest delay of setTimeout, to override the SDK's default timeout of a minute. */
const noTimeout = 2 ** 31 - 1;
/** Milliseconds that a server has to exit. */
const defaultGrace = 2_000;

/**
 * Connects to a server over stdio or Streamable HTTP, or takes a connected client.
 *
 * Calls of the tools throw `infrastructure.mcp_closed` if the server has ended or the connection is broken,
 * `infrastructure.mcp_timeout` after `callTimeout`, `infrastructure.mcp_error` for a protocol error that is not about the
 * arguments, and `infrastructure.mcp_result` for a result that breaks the tool's schema. If the context's signal aborts,
 * they throw its reason and cancel the call on the server.
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
      const message = `${name} did not answer within ${connectTimeout / 1000} s: raise connectTimeout or fix the server.`;
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
    const message = `${name} cannot be used: ${connection.why(error)}: check the server and how it is started.`;
    throw new ToolEnvError('infrastructure.mcp_connect', message, { cause: error });
  } finally {
    deadline.clear();
  }
}

function noSuchTool(name: string, names: readonly string[], owner: string): ToolEnvError {
  const hint = didYouMean(name, names, 'Its tools');
  return new ToolEnvError('usage.mcp_tool', `${owner} has no tool "${name}". ${hint}`);
}

/** Accepts everything: tools validate results themselves, since the SDK's validator does not support JSON Schema 2020-12. */
const trusting: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

/**
 * Version 2 of the SDK has string codes for errors on the client's side. Version 1 uses numbers that a server may use too
 * (JSON-RPC 2.0 §5.1), so only the message distinguishes them.
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

/** A connection over a client that the caller opened. */
class Connection<Held extends McpClient = McpClient> implements McpConnection {
  tools: readonly McpTool[] = [];
  lost: ToolEnvError | undefined;
  protected readonly client: Held;
  protected readonly name: string;
  protected readonly options: McpOptions;
  /** Serialises listing, so that an older list never replaces a newer one. */
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

  /** The cause of an error, in words. */
  why(error: unknown): string {
    return messageOf(error);
  }

  /** Called after a failure that may mean that the server has ended or hangs. */
  protected suspect(): void {}

  protected listAll(request: McpRequestOptions): Promise<McpToolDefinition[]> {
    return listAllTools(this.client, request);
  }

  protected closedError(why: string): ToolEnvError {
    const message = `${this.name} is no longer connected: ${why}: connect again.`;
    return new ToolEnvError('infrastructure.mcp_closed', message);
  }

  /** Lists the server's tools that can run without tasks, and sets {@link tools} to those in `only`. */
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
        // The call may have taken too long because the server hangs.
        this.suspect();
        throw signal.reason;
      }
      throw this.#failure(name, error);
    }
  }

  /** The error of a failed call: unchanged if it is about the arguments, otherwise an infrastructure error. */
  #failure(tool: string, error: unknown): unknown {
    const { code } = error as { code?: unknown };
    if (code === -32602) return error;
    if (this.lost) return this.lost;
    const call = `Tool "${tool}" of ${this.name}`;
    if (isTimeout(error)) {
      this.suspect();
      const message = `${call} did not answer within ${this.options.callTimeout} ms: raise callTimeout or fix the server.`;
      return new ToolEnvError('infrastructure.mcp_timeout', message, { cause: error });
    }
    if (isClosed(error)) {
      // Mark it lost now, so that a pool does not hand it out again.
      this.lost ??= this.closedError(this.why(error));
      return this.lost;
    }
    this.suspect();
    const message = `${call} failed: ${messageOf(error)}: look at the server's log.`;
    return new ToolEnvError('infrastructure.mcp_error', message, { cause: error });
  }
}

/** A connection over a client that this module opens. */
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
      this.lost ??= this.closedError(this.#serverEnd ?? 'the connection was closed');
    };
    await this.client.connect(this.#transport, { signal, timeout: noTimeout });
    this.client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.#listChanged());
    await super.open(signal);
    // Only onerror reports a broken stream of Streamable HTTP. Calls on it would wait for ever.
    if (!(this.#transport instanceof ServerProcess)) this.client.onerror = () => this.suspect();
  }

  override close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** If the connection broke, the cause is the end of the server. After any other error, closing may have ended the server. */
  override why(error: unknown): string {
    return (isClosed(error) ? this.#serverEnd : undefined) ?? super.why(error);
  }

  get #serverEnd(): string | undefined {
    return this.#transport instanceof ServerProcess ? this.#transport.end : undefined;
  }

  protected override async listAll(request: McpRequestOptions): Promise<McpToolDefinition[]> {
    return this.client.getServerCapabilities()?.tools ? super.listAll(request) : [];
  }

  /** Pings the server, and closes the connection if there is no answer. */
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
      // The tools listed before are out of date.
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
      // Ignore errors: if the server has ended, so has the session.
      const grace = new Deadline({ after: this.options.closeGrace ?? defaultGrace, reason: () => undefined });
      await grace.race(() => transport.terminateSession()).catch(() => {});
      grace.clear();
    }
    await transport.close();
  }
}
