/** McpServer: names the server to use, and parses servers from command lines. */
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { ToolEnvError } from '@toolenv/core';
import { hideInArguments } from './hide-arguments.ts';
import type { McpClient } from './mcp-client.ts';

/** A server that runs as a process and communicates over stdin and stdout. No shell is involved. */
export interface McpCommand {
  /** Searched for on PATH. On Windows, start launchers such as npx by `{ command: 'cmd', args: ['/c', 'npx', …] }`. */
  command: string;
  /** An argument may name a variable of this process: `--api-key=${API_KEY}`. `$${NAME}` stands for `${NAME}` itself. */
  args?: readonly string[];
  /**
   * Added to the few variables that are safe to pass on (HOME, PATH, …). The rest of `process.env` is not passed on, except where a
   * value names a variable: `${API_KEY}`.
   */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

/** A server that speaks Streamable HTTP, or the older HTTP with SSE of MCP 2024-11-05. */
export interface McpUrl {
  /** May name a variable of this process: `https://host/mcp?key=${API_KEY}`. */
  url: string | URL;
  /** Sent with each request, for example `Authorization`. A value may name a variable of this process: `Bearer ${API_KEY}`. */
  headers?: Readonly<Record<string, string>>;
  /** Authorizes requests by OAuth: a provider of @modelcontextprotocol/client, such as ClientCredentialsProvider, or your own. */
  authProvider?: OAuthClientProvider;
}

/** A client that is already connected. The caller who opened it closes it. */
export interface McpClientGiven {
  client: McpClient;
}

/** A server to which any number of connections can be opened. */
export type McpEndpoint = McpCommand | McpUrl;
export type McpServer = McpEndpoint | McpClientGiven;

/** The name of a server in errors, without a URL's credentials or query, and without what looks secret in a command line. */
export function describeServer(server: McpServer): string {
  if ('client' in server) return 'the given MCP client';
  if ('command' in server) {
    return `MCP server \`${[server.command, ...hideInArguments(server.args ?? [])].join(' ')}\``;
  }
  const { origin, pathname } = toUrl(server.url);
  return `MCP server ${origin}${pathname}`;
}

/** @throws ToolEnvError `usage.mcp_url` for anything but an http or https URL without credentials. */
export function toUrl(url: string | URL): URL {
  const parsed = URL.canParse(String(url)) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    const message = `"${url}" is not an MCP server: give an http or https URL, such as http://127.0.0.1:3000/mcp.`;
    throw new ToolEnvError('usage.mcp_url', message);
  }
  if (parsed.username === '' && parsed.password === '') return parsed;
  const message = `The URL of ${parsed.host} contains credentials: send them in a header instead.`;
  throw new ToolEnvError('usage.mcp_url', message);
}

/**
 * Parses a server: an http or https URL, or a command and its arguments. Quotes and backslashes work as in a POSIX shell;
 * no other shell syntax is supported, and no shell is run.
 * @throws ToolEnvError `usage.mcp_url`, or `usage.mcp_command` for an empty text or an unclosed quote.
 */
export function parseServer(text: string): McpEndpoint {
  if (/^https?:\/\//i.test(text.trim())) return { url: toUrl(text.trim()).href };
  const [command, ...args] = splitWords(text);
  if (command !== undefined) return { command, args };
  const message = 'No MCP server named: give a URL, or a command such as "npx -y @scope/server".';
  throw new ToolEnvError('usage.mcp_command', message);
}

/** Splits words by POSIX shell quoting (POSIX.1-2024, XCU 2.2), without expansions. */
function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  const parts = /\s+|'([^']*)'|"((?:\\.|[^"\\])*)"|\\([\s\S])|([^\s'"\\]+)|(['"\\])/g;
  for (const [, single, double, escaped, plain, open] of text.matchAll(parts)) {
    if (open !== undefined) {
      const message = `The command \`${text}\` has an unclosed ${open}: close it, or put it in other quotes.`;
      throw new ToolEnvError('usage.mcp_command', message);
    }
    const piece = single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain;
    if (piece !== undefined) word = (word ?? '') + piece;
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}
