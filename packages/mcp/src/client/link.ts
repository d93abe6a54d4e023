/** Link: the client under a connection, and what is known about the server behind it. */
import type { ToolEnvError } from '@toolenv/core';
import type { McpClient, McpRequestOptions, McpToolDefinition } from './mcp-client.ts';

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
