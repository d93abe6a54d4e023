/** McpClient: the part of an MCP client that tools need; the SDK's clients of version 1 and 2 both have it. */
import type { ToolAnnotations } from '@toolenv/core';

/** A tool as a server lists it (MCP 2025-11-25, server/tools#tool). */
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

/** How far a call has come, as its server tells it (MCP 2025-11-25, basic/utilities/progress). */
export interface McpProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** What goes with a request, named as both versions of the SDK name it. */
export interface McpRequestOptions {
  signal?: AbortSignal;
  /** Milliseconds without an answer, and without progress if that is listened to. */
  timeout?: number;
  resetTimeoutOnProgress?: boolean;
  onprogress?(progress: McpProgress): void;
}

/**
 * `Client` of @modelcontextprotocol/sdk (version 1) and of @modelcontextprotocol/client (version 2), or anything alike.
 * Version 1 takes the options of a call third, after a result schema, and version 2 second; see {@link callTool}.
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
}

/** Every tool of the server, page after page (MCP 2025-11-25, server/utilities/pagination). */
export async function listAllTools(
  client: McpClient,
  options: McpRequestOptions,
): Promise<McpToolDefinition[]> {
  const all: McpToolDefinition[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor }, options);
    all.push(...page.tools);
    cursor = page.nextCursor;
    if (cursor !== undefined && seen.has(cursor)) throw new Error(`it gave the page "${cursor}" twice`);
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
  return all;
}

/** Calls a tool with the options where the client's version takes them. */
export function callTool(
  client: McpClient,
  params: { name: string; arguments: Record<string, unknown> },
  options: McpRequestOptions,
): Promise<object> {
  // Two declared parameters are (params, options). Version 1 declares one, for its second has a default.
  const second = client.callTool.length === 2;
  return second ? client.callTool(params, options) : client.callTool(params, undefined, options);
}
