/** McpConnection: a server's tools while a connection to it is open. Connection has them over a client that the caller opened. */
import { messageOf, type ToolContext, ToolEnvError } from '@toolenv/core';
import { didYouMean } from '@toolenv/core/schemas';
import pLimit, { type LimitFunction } from 'p-limit';
import { answerOf, isClosed, isErrorAnswer, isLost, isTimeout, isWrongResult } from './client-error.ts';
import { type MaterialTool, type McpMaterial, materialTools } from './material-tools.ts';
import {
  callTool,
  listAllTools,
  type McpClient,
  type McpRequestOptions,
  type McpToolDefinition,
} from './mcp-client.ts';
import { type McpCallProgress, type McpTool, mcpTool } from './mcp-tool.ts';
import { warnOnce } from './warn-once.ts';

export interface McpOptions {
  /** Names of the tools to offer. Default: all. */
  only?: readonly string[];
  /**
   * What to offer as tools, beside the server's tools: `list_resources` and `read_resource`, `list_prompts` and `get_prompt`. A
   * tool of the server with such a name stands in for them. Default: none.
   */
  offer?: readonly McpMaterial[];
  /** Names of tools that must not be left out because of their schema. Default: those in `only`. */
  required?: readonly string[];
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
  /**
   * After the HTTP stream of a call was cut, milliseconds that the server has to answer the call, or to report its progress,
   * on another stream. Then the call fails. Default 8,000.
   */
  resumeTimeout?: number;
  /**
   * Whether to begin with `initialize`, as MCP 2025-11-25 and older do. Default false: ask the server for its protocol first.
   */
  initialize?: boolean;
  /** Called with each warning, a sentence: a tool is left out because its schema is unusable. Default: write it to stderr. */
  onWarning?(message: string): void;
  /** Called with the progress of calls, if the server reports it. */
  onProgress?(progress: McpCallProgress): void;
  /** Called with the new tools after the server has changed its list. */
  onToolsChanged?(tools: readonly McpTool[]): void;
  /** Cancels connecting. */
  signal?: AbortSignal;
}

export interface McpConnection {
  /**
   * The server's tools as last listed, except tools that run only as tasks (experimental in MCP 2025-11-25) and tools with a
   * schema that cannot be compiled.
   */
  readonly tools: readonly McpTool[];
  /** Why the connection can no longer be used; `undefined` while it is open. */
  readonly lost: ToolEnvError | undefined;
  /** The negotiated revision of MCP, for example `2026-07-28`; `undefined` if the client was given. */
  readonly protocolVersion: string | undefined;
  /** How to use the server, in its own words; `undefined` if it says nothing, or if the client was given and does not tell. */
  readonly instructions: string | undefined;
  /** Process id of a server that was started as a process. */
  readonly pid: number | undefined;
  /** Lists the tools again. Happens automatically when the server reports a change, unless the client was given. */
  refresh(): Promise<readonly McpTool[]>;
  /** Ends the session and the server process. Calls in flight reject. */
  close(): Promise<void>;
}

/** Milliseconds. */
export const defaultConnectTimeout = 30_000;

/** Longest delay of setTimeout, to override the SDK's default timeout of a minute. */
export const noTimeout: number = 2 ** 31 - 1;

/** A connection over a client that the caller opened. */
export class Connection<Held extends McpClient = McpClient> implements McpConnection {
  tools: readonly McpTool[] = [];
  lost: ToolEnvError | undefined;
  protected client: Held;
  protected readonly name: string;
  protected readonly options: McpOptions;
  readonly #warn: (message: string) => void;
  /** Resources and prompts as tools, by name. */
  #material: ReadonlyMap<string, MaterialTool> = new Map();
  /** Serialises listing, so that an older list never replaces a newer one. */
  readonly #oneAtATime: LimitFunction = pLimit(1);

  constructor(client: Held, name: string, options: McpOptions) {
    this.client = client;
    this.name = name;
    this.options = options;
    this.#warn = warnOnce(options.onWarning);
  }

  get pid(): number | undefined {
    return undefined;
  }

  get protocolVersion(): string | undefined {
    return undefined;
  }

  get instructions(): string | undefined {
    return this.client.getInstructions?.();
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

  /** Closes a connection whose server has not answered in time. */
  abandon(): Promise<void> {
    return this.close();
  }

  /** The cause of an error, in words. */
  why(error: unknown): string {
    return messageOf(error);
  }

  /** A failure of the server, with what the server itself says about it, if that is known. */
  explain(failure: string): string {
    return failure;
  }

  /** Called after a failure that may mean that the server has ended or hangs. Settles when that is known. */
  protected async suspect(): Promise<void> {}

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
    const own = (await this.listAll(request)).filter(
      ({ execution }) => execution?.taskSupport !== 'required',
    );
    const taken = new Set(own.map(({ name }) => name));
    const extra = materialTools(this.client, this.options.offer).filter(
      ({ definition }) => !taken.has(definition.name),
    );
    this.#material = new Map(extra.map((tool) => [tool.definition.name, tool]));
    const definitions = [...own, ...extra.map(({ definition }) => definition)];
    const offered = definitions.filter(({ name }) => only === undefined || only.includes(name));
    this.tools = offered.flatMap((definition) => this.#toTool(definition) ?? []);
    return definitions;
  }

  /** `undefined`, with a warning, for a tool with an unusable schema, unless `only` asks for it. */
  #toTool(definition: McpToolDefinition): McpTool | undefined {
    try {
      return mcpTool(definition, (name, args, context) => this.#call(name, args, context), this.name);
    } catch (error) {
      const { only, required = only } = this.options;
      if (required?.includes(definition.name)) throw error;
      this.#warn(`Left out: ${messageOf(error)}`);
      return undefined;
    }
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
      const material = this.#material.get(name);
      if (material) return { ...(await material.ask(this.client, args, request)) };
      return { ...(await callTool(this.client, { name, arguments: args }, request)) };
    } catch (error) {
      if (signal.aborted) {
        // The call may have taken too long because the server hangs.
        this.suspect();
        throw signal.reason;
      }
      throw await this.#failure(name, error);
    }
  }

  /** The error of a failed call: unchanged if the server answered with it, otherwise an infrastructure error. */
  async #failure(tool: string, error: unknown): Promise<unknown> {
    const call = `Tool "${tool}" of ${this.name}`;
    if (isErrorAnswer(error)) return error;
    if (this.lost) return this.lost;
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
    if (isLost(error)) {
      await this.suspect();
      const message = `${call} failed: ${answerOf(error)}: look at the server's log, and at time limits of proxies.`;
      return this.lost ?? new ToolEnvError('infrastructure.mcp_closed', message, { cause: error });
    }
    if (isWrongResult(error)) {
      const message = `${call} broke its outputSchema: ${messageOf(error)}: fix the server.`;
      return new ToolEnvError('infrastructure.mcp_result', message, { cause: error });
    }
    this.suspect();
    const message = `${call} failed: ${messageOf(error)}: look at the server's log.`;
    return new ToolEnvError('infrastructure.mcp_error', message, { cause: error });
  }
}

function noSuchTool(name: string, names: readonly string[], owner: string): ToolEnvError {
  const hint = didYouMean(name, names, 'Its tools');
  return new ToolEnvError('usage.mcp_tool', `${owner} has no tool "${name}". ${hint}`);
}
