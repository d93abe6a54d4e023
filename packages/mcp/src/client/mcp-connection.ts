/** McpConnection: a server's tools while a connection to it is open. */
import { setTimeout as sleep } from 'node:timers/promises';
import { asClause, type CallProgress, messageOf, type ToolContext, ToolEnvError } from '@toolenv/core';
import { didYouMean, type JsonBounds, jsonMistake } from '@toolenv/core/schemas';
import { ToolNames, untilAborted } from '@toolenv/core/tools';
import pLimit, { type LimitFunction } from 'p-limit';
import { callFailures, isClosed, isErrorAnswer } from './client-error.ts';
import {
  callTool,
  type Link,
  type LinkOwner,
  listAllTools,
  type McpRequestOptions,
  type McpToolDefinition,
} from './mcp-client.ts';
import type { McpHooks } from './mcp-hooks.ts';
import { type McpTool, mcpTool } from './mcp-tool.ts';
import { type McpPrimitive, type PrimitiveTool, primitiveTools } from './primitive-tools.ts';
import { warnOnce } from './warn-once.ts';

export interface McpOptions extends McpHooks {
  /** Names of the tools to offer. Default: all. */
  only?: readonly string[];
  /**
   * What to offer as tools, in addition to the server's tools: `list_resources` and `read_resource`, `list_prompts` and `get_prompt`. A
   * server's own tool with one of these names replaces it. Default: none.
   */
  offer?: readonly McpPrimitive[];
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
  /**
   * Called with each warning, a sentence, when constraints of a tool's schema cannot be checked here, when a tool is left out because its
   * name is taken or its schema is too large, or when models call it by another name. Default: write it to stderr.
   */
  onWarning?(message: string): void;
  /** Called with the progress of calls, if the server reports it. */
  onProgress?(progress: CallProgress): void;
  /** Called with the new tools after the server has changed its list. */
  onToolsChanged?(tools: readonly McpTool[]): void;
  /** Cancels connecting. */
  signal?: AbortSignal;
}

export interface McpConnection {
  /**
   * The server's tools as last listed, except tools that run only as tasks (experimental in MCP 2025-11-25). Constraints of their schemas
   * that cannot be checked here are left to the server.
   */
  readonly tools: readonly McpTool[];
  /** Why the connection can no longer be used; `undefined` while it is open. */
  readonly lost: ToolEnvError | undefined;
  /** The negotiated revision of MCP, for example `2026-07-28`; `undefined` if the client was given. */
  readonly protocolVersion: string | undefined;
  /** The server's instructions; `undefined` if there are none, or if a given client does not have them. */
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

/** Of a tool with its schemas. A model would have to read it, and to compile a larger schema takes seconds and gigabytes. */
const definitionBounds: JsonBounds = { depth: 256, characters: 2 ** 18 };

/** Fewest milliseconds between two listings of changed tools. */
const listingsApart = 100;

export class Connection implements McpConnection, LinkOwner {
  tools: readonly McpTool[] = [];
  lost: ToolEnvError | undefined;
  readonly #link: Link;
  readonly #name: string;
  readonly #options: McpOptions;
  #closing: Promise<void> | undefined;
  readonly #warn: (message: string) => void;
  /** Resources and prompts as tools, by name. */
  #primitives: ReadonlyMap<string, PrimitiveTool> = new Map();
  /** The listing of the tools that the server has changed last. It never rejects. */
  #changing: Promise<void> | undefined;
  /** The calls in flight, and the failure of a hook in their time. */
  readonly #running: Set<{ failure?: ToolEnvError }> = new Set();
  /** A listing of changed tools that has not begun. It serves all changes until then. */
  #next: Promise<void> | undefined;
  /** When a listing of changed tools has begun last, by `performance.now`. */
  #listedAt = Number.NEGATIVE_INFINITY;
  /** The names under which models call the tools. */
  readonly #names = new ToolNames();
  /** Serialises listing, so that an older list never replaces a newer one. */
  readonly #oneAtATime: LimitFunction = pLimit(1);

  constructor(link: Link, name: string, options: McpOptions) {
    this.#link = link;
    this.#name = name;
    this.#options = options;
    this.#warn = warnOnce(options.onWarning);
  }

  get pid(): number | undefined {
    return this.#link.pid;
  }

  get protocolVersion(): string | undefined {
    return this.#link.protocolVersion;
  }

  get instructions(): string | undefined {
    return this.#link.client.getInstructions?.();
  }

  async open(signal: AbortSignal): Promise<void> {
    await this.#link.connect?.(signal, this);
    const definitions = await this.#oneAtATime(() => this.#list({ signal }));
    const names = [...definitions.values(), ...definitions.keys()];
    const missing = this.#options.only?.find((name) => !names.includes(name));
    if (missing !== undefined) throw noSuchTool(missing, [...new Set(names)], this.#name);
    await this.#link.watch?.();
  }

  async refresh(): Promise<readonly McpTool[]> {
    await this.#oneAtATime(() => this.#list({}));
    return this.tools;
  }

  close(): Promise<void> {
    this.lose('it was closed');
    this.#closing ??= Promise.resolve(this.#link.close?.());
    return this.#closing;
  }

  /** Closes a connection whose server has not answered in time. */
  async abandon(): Promise<void> {
    await this.#link.kill?.();
    await this.close();
  }

  /** Marks the connection as lost. The first reason is kept. */
  lose(why: string): ToolEnvError {
    const message = `${this.#name} is no longer connected: ${asClause(why)}: connect again.`;
    this.lost ??= new ToolEnvError('infrastructure.mcp_closed', message);
    return this.lost;
  }

  /** Lists the tools again after the server has changed them. Calls that end meanwhile wait for the list. */
  listChanged(): Promise<void> {
    this.#next ??= this.#listChanges();
    this.#changing = this.#next;
    return this.#changing;
  }

  async #listChanges(): Promise<void> {
    try {
      await this.#oneAtATime(async () => {
        // A server may report changes without end.
        await sleep(Math.max(0, this.#listedAt + listingsApart - performance.now()));
        this.#listedAt = performance.now();
        this.#next = undefined;
        if (!this.lost) await this.#list({});
      });
    } catch (error) {
      // The tools listed before are out of date.
      if (ToolEnvError.isInstance(error)) this.lost ??= error;
      else this.lose(`its changed tools cannot be listed (${this.why(error)})`);
      // A call that waits for the list does not wait for the server to end.
      this.close().catch(() => {});
      return;
    }
    if (!this.lost) this.#options.onToolsChanged?.(this.tools);
  }

  /** The cause of an error, in words. */
  why(error: unknown): string {
    return asClause(this.#link.why?.(error) ?? messageOf(error));
  }

  /** A failure of the server, with the server's own words about it, if they are known. */
  explain(failure: string): string {
    return asClause(this.#link.explain?.(failure) ?? failure);
  }

  /**
   * Lists the server's tools that can run without tasks, and sets {@link tools} to those in `only`.
   * @returns The names of all tools, and the names under which models call them.
   */
  async #list(request: McpRequestOptions): Promise<Map<string, string>> {
    const { only, offer } = this.#options;
    const { client } = this.#link;
    const listed = await (this.#link.listTools?.(request) ?? listAllTools(client, request));
    const own = this.#distinct(listed.filter(({ execution }) => execution?.taskSupport !== 'required'));
    const taken = new Set(own.map(({ name }) => name));
    const extra = primitiveTools(client, offer).filter(({ definition }) => !taken.has(definition.name));
    this.#primitives = new Map(extra.map((tool) => [tool.definition.name, tool]));
    const definitions = [...own, ...extra.map(({ definition }) => definition)];
    const names = this.#names.of(definitions.map(({ name }) => name));
    const isOffered = ({ name }: McpToolDefinition) =>
      only === undefined || only.includes(name) || only.includes(names.get(name)!);
    const offered = definitions.filter(isOffered);
    const renamed = offered.flatMap(({ name }) => {
      const own = names.get(name)!;
      return own === name ? [] : [`${JSON.stringify(name.slice(0, 100))} as ${own}`];
    });
    if (renamed.length > 0)
      this.#warn(`Models call tools of ${this.#name} by names that their servers accept: ${some(renamed)}.`);
    this.tools = offered.map((definition) => this.#toTool(definition, names.get(definition.name)!));
    return names;
  }

  /** The first tool of each name, with a warning about those that are left out. */
  #distinct(listed: readonly McpToolDefinition[]): McpToolDefinition[] {
    const first = new Map<string, McpToolDefinition>();
    const leftOut = new Set<string>();
    for (const definition of listed) {
      const { name } = definition;
      const fault = faultOf(definition, first);
      if (fault === undefined) first.set(name, definition);
      else leftOut.add(`${JSON.stringify(name.slice(0, 100))} (${fault})`);
    }
    if (leftOut.size > 0)
      this.#warn(`Tools of ${this.#name} are left out: ${some([...leftOut])}: fix the server.`);
    return [...first.values()];
  }

  #toTool(definition: McpToolDefinition, name: string): McpTool {
    return mcpTool(
      definition,
      (given, args, context) => this.#call(given, args, context),
      this.#name,
      this.#warn,
      name,
    );
  }

  hookFailed(error: unknown): void {
    const message = `A hook could not answer ${this.#name}: ${messageOf(error)}`;
    const failure = ToolEnvError.isInstance(error)
      ? error
      : new ToolEnvError('bug.mcp_hook', message, { cause: error });
    for (const call of this.#running) call.failure ??= failure;
  }

  async #call(
    name: string,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Promise<{ [field: string]: unknown }> {
    const call: { failure?: ToolEnvError } = {};
    this.#running.add(call);
    try {
      const result = await this.#ask(name, args, context);
      if (call.failure) throw call.failure;
      return result;
    } catch (error) {
      throw context.signal.aborted ? error : (call.failure ?? error);
    } finally {
      this.#running.delete(call);
    }
  }

  async #ask(
    name: string,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Promise<{ [field: string]: unknown }> {
    const { signal, episodeId, callIndex } = context;
    const { callTimeout, onProgress } = this.#options;
    signal.throwIfAborted();
    if (this.lost) throw this.lost;
    const request: McpRequestOptions = { signal, timeout: callTimeout ?? noTimeout };
    if (callTimeout !== undefined || onProgress || context.progress) {
      request.resetTimeoutOnProgress = true;
      request.onprogress = (progress) => {
        context.progress?.(progress);
        onProgress?.({ ...progress, tool: name, episodeId, callIndex });
      };
    }
    const { client } = this.#link;
    const primitive = this.#primitives.get(name);
    try {
      const result = primitive
        ? await primitive.ask(client, args, request)
        : await callTool(client, { name, arguments: args }, request);
      await this.#changesListed(signal);
      return { ...result };
    } catch (error) {
      if (isErrorAnswer(error)) await this.#changesListed(signal);
      if (signal.aborted) {
        // The call may have taken too long because the server hangs.
        this.#ping();
        throw signal.reason;
      }
      throw await this.#failure(name, error);
    }
  }

  /** Settles when the tools are listed that a call has unlocked or removed, so that the next observation shows them. */
  async #changesListed(signal: AbortSignal): Promise<void> {
    await this.#link.heard?.();
    await untilAborted(signal, async () => this.#changing);
  }

  /** The error of a failed call: unchanged if the server answered with it, otherwise an infrastructure error. */
  async #failure(tool: string, error: unknown): Promise<unknown> {
    if (isErrorAnswer(error)) return error;
    if (this.lost) return this.lost;
    // Mark it lost now, so that a pool does not hand it out again.
    if (isClosed(error)) return this.lose(this.why(error));
    const { code, says, ping } = callFailures.find(({ is }) => is(error))!;
    const message = `Tool "${tool}" of ${this.#name} ${says(error, this.#options.callTimeout)}`;
    const failure = new ToolEnvError(code, message, { cause: error });
    if (ping === 'background') this.#ping();
    if (ping !== 'before') return failure;
    await this.#ping();
    return this.lost ?? failure;
  }

  async #ping(): Promise<void> {
    if (!this.lost) await this.#link.ping?.();
  }
}

/** Why a tool is left out. */
function faultOf(definition: McpToolDefinition, before: ReadonlyMap<string, unknown>): string | undefined {
  if (definition.name === '') return 'no name';
  if (before.has(definition.name)) return 'listed twice';
  return jsonMistake(definition, definitionBounds) && 'more than a model reads';
}

/** The first few, and how many more. */
function some(texts: readonly string[]): string {
  const shown = texts.slice(0, 3).join(', ');
  return texts.length > 3 ? `${shown} and ${texts.length - 3} more` : shown;
}

function noSuchTool(name: string, names: readonly string[], owner: string): ToolEnvError {
  const hint = didYouMean(name, names, 'Its tools');
  return new ToolEnvError('usage.mcp_tool', `${owner} has no tool "${name}". ${hint}`);
}
