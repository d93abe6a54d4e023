/** McpClient: the part of an MCP client that tools need. The clients of the SDK's versions 1 and 2 both have it. */
import type { ToolAnnotations, ToolEnvError } from '@toolenv/core';

/** A tool in a server's list (MCP 2026-07-28, server/tools#tool). */
export interface McpToolDefinition {
  name: string;
  title?: string;
  description?: string;
  inputSchema: object;
  outputSchema?: object;
  annotations?: ToolAnnotations;
  execution?: { taskSupport?: string };
  _meta?: object;
}

/** A server's report of a call's progress (MCP 2025-11-25, basic/utilities/progress). */
export interface McpProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** Options of a request, with the names that both versions of the SDK use. */
export interface McpRequestOptions {
  signal?: AbortSignal;
  /** Milliseconds without an answer; progress reports restart the time if `resetTimeoutOnProgress` is set. */
  timeout?: number;
  resetTimeoutOnProgress?: boolean;
  onprogress?(progress: McpProgress): void;
  /** Version 2 of the SDK only: whether a list may come from its cache. */
  cacheMode?: 'use' | 'refresh' | 'bypass';
}

/**
 * `Client` of @modelcontextprotocol/sdk (version 1) or of @modelcontextprotocol/client (version 2), or a similar object.
 * Version 1 takes the options of a call as the third argument, after a result schema; version 2 takes them as the second.
 * See {@link callTool}.
 */
export interface McpClient {
  listTools(
    params?: { cursor?: string },
    options?: McpRequestOptions,
  ): Promise<{ tools: readonly McpToolDefinition[]; nextCursor?: string }>;
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    schemaOrOptions?: object,
    options?: object,
  ): Promise<object>;
  getInstructions?(): string | undefined;
  getServerCapabilities?(): { resources?: object; prompts?: object } | undefined;
  listResources?(
    params?: { cursor?: string },
    options?: McpRequestOptions,
  ): Promise<{ resources: readonly object[]; nextCursor?: string }>;
  listResourceTemplates?(
    params?: { cursor?: string },
    options?: McpRequestOptions,
  ): Promise<{ resourceTemplates: readonly object[] }>;
  readResource?(
    params: { uri: string },
    options?: McpRequestOptions,
  ): Promise<{ contents: readonly object[] }>;
  listPrompts?(
    params?: { cursor?: string },
    options?: McpRequestOptions,
  ): Promise<{ prompts: readonly object[]; nextCursor?: string }>;
  getPrompt?(
    params: { name: string; arguments?: Record<string, string> },
    options?: McpRequestOptions,
  ): Promise<{ messages: readonly { role: string; content: { type: string; text?: string } }[] }>;
}

/** Pages of a list of tools. A server could name a next page for ever. */
export const maxPages = 1_000;

/** All tools of the server, from all pages (MCP 2025-11-25, server/utilities/pagination). */
export async function listAllTools(
  client: McpClient,
  options: McpRequestOptions,
): Promise<McpToolDefinition[]> {
  const all: McpToolDefinition[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  let pages = 0;
  do {
    if (++pages > maxPages) throw new Error(`its list of tools has more than ${maxPages} pages`);
    const page = await client.listTools(cursor === undefined ? undefined : { cursor }, options);
    all.push(...page.tools);
    cursor = page.nextCursor;
    if (cursor !== undefined && seen.has(cursor)) throw new Error(`its list has the page "${cursor}" twice`);
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
  return all;
}

/** Calls a tool and passes the options in the position that the client's version expects. */
export function callTool(
  client: McpClient,
  params: { name: string; arguments: Record<string, unknown> },
  options: McpRequestOptions,
): Promise<object> {
  // A function with two declared parameters takes (params, options). Version 1 has length 1, since its second has a default.
  const second = client.callTool.length === 2;
  return second ? client.callTool(params, options) : client.callTool(params, undefined, options);
}

/** The connection, as its link sees it. */
export interface LinkOwner {
  readonly lost: ToolEnvError | undefined;
  /** Marks the connection as lost. The first reason is kept. */
  lose(why: string): void;
  close(): Promise<void>;
  /** Fails the calls in flight, because one of them may be what the hook was to answer. */
  hookFailed(error: unknown): void;
  /** Lists the tools again. */
  listChanged(): Promise<void>;
}

/** A client that the caller opened needs no more than `client`. A link that opens its client itself can also end the server. */
export interface Link {
  readonly client: McpClient;
  readonly pid?: number;
  readonly protocolVersion?: string;
  /** Opens the client. Reports to its owner what happens to the client later. */
  connect?(signal: AbortSignal, owner: LinkOwner): Promise<void>;
  /** Called once the tools are listed: reports breaks of the connection, and changes of the list, from now on. */
  watch?(): Promise<void>;
  listTools?(request: McpRequestOptions): Promise<McpToolDefinition[]>;
  /** Asks a server that may have ended or hang for a sign of life. Settles when the answer is known. */
  ping?(): Promise<void>;
  /** Called after an answer. Settles when the notifications have arrived that the server sent before the answer. */
  heard?(): Promise<void>;
  /** Ends the session and the server. */
  close?(): Promise<void>;
  /** Ends a server that has not answered in time. */
  kill?(): Promise<void>;
  /** The cause of an error, in words. Default: the error's message. */
  why?(error: unknown): string;
  /** A failure of the server, with the server's own words about it. Default: the failure alone. */
  explain?(failure: string): string;
}
