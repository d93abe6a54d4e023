/** McpServer: names the server to use, and parses servers from command lines. */
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { ToolEnvError } from '@toolenv/core';
import { registerNamedSecrets } from '@toolenv/core/secrets';
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

export interface ServerAdditions {
  /** `NAME=value`, for a server that runs as a process. */
  env?: readonly string[];
  /** `Name: value`, for a server at a URL. */
  header?: readonly string[];
}

/**
 * The server, with further variables or headers.
 * @throws ToolEnvError `usage.mcp_server` for a text without a separator.
 */
export function withAdditions(server: McpEndpoint, { env = [], header = [] }: ServerAdditions): McpEndpoint {
  if ('command' in server) {
    if (env.length === 0) return server;
    return { ...server, env: { ...server.env, ...pairs(env, '=', 'env', 'NAME=value') } };
  }
  if (header.length === 0) return server;
  return { ...server, headers: { ...server.headers, ...pairs(header, ':', 'header', 'Name: value') } };
}

/** A server whose variables were read. */
export interface ExpandedServer<Server extends McpEndpoint = McpEndpoint> {
  /** As it was given: with the names of the variables, for errors. */
  given: Server;
  server: Server;
  /** The variables that were read, and their values. */
  variables: ReadonlyMap<string, string>;
}

/**
 * The server, with the variables of this process in place of `${NAME}` in its arguments or its URL, and in the values of `env` and `headers`. So
 * a definition or an option names a secret without containing it. `$${NAME}` stands for `${NAME}` itself.
 * @throws ToolEnvError `usage.mcp_variable` for a variable that is not set.
 */
export function withVariables<Server extends McpEndpoint>(given: Server): ExpandedServer<Server> {
  const variables = new Map<string, string>();
  const expand = (text: string) =>
    text.replace(/\$(\$\{\w+\})|\$\{(\w+)\}/g, (_, escaped: string | undefined, name: string) => {
      if (escaped !== undefined) return escaped;
      const value = readVariable(name, given);
      variables.set(name, value);
      return value;
    });
  const expandAll = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, expand(value)]));
  const { args, env, url, headers } = given as Partial<McpCommand & McpUrl>;
  const server: Server & Partial<McpCommand & McpUrl> = {
    ...given,
    ...(args && { args: args.map(expand) }),
    ...(env && { env: expandAll(env) }),
    ...(url && { url: expand(String(url)) }),
    ...(headers && { headers: expandAll(headers) }),
  };
  registerNamedSecrets(server.env);
  registerNamedSecrets(server.headers);
  return { given, server, variables };
}

function readVariable(variable: string, server: McpEndpoint): string {
  const value = process.env[variable];
  if (value !== undefined) {
    registerNamedSecrets({ [variable]: value });
    return value;
  }
  const message = `${describeServer(server)} needs the variable ${variable}, which is not set: set it.`;
  throw new ToolEnvError('usage.mcp_variable', message);
}

function pairs(
  texts: readonly string[],
  separator: string,
  kind: string,
  shape: string,
): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(separator);
      if (at >= 1) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
      throw new ToolEnvError('usage.mcp_server', `${kind} "${text}": write it as ${shape}.`);
    }),
  );
}

/** Shortest value that is hidden wherever it occurs. Shorter values may occur in any text. */
const secretLength = 6;

/** The text without the server's secrets, each replaced by its name. Errors end up in recorded files. */
export function hideSecrets(text: string, { server, variables }: ExpandedServer): string {
  const secrets: [value: string, name: string][] = [...variables].map(([name, value]) => [value, name]);
  if ('command' in server) {
    for (const [name, value] of Object.entries(server.env ?? {})) secrets.push([value, name]);
  } else {
    for (const [name, value] of Object.entries(server.headers ?? {})) {
      secrets.push([value, name], [value.replace(/^\w+ +/, ''), name]);
    }
  }
  hideInArguments('command' in server ? (server.args ?? []) : [String(server.url)], (value, name) => {
    secrets.push([value, name]);
    return value;
  });
  // The longest first, because a secret may contain another.
  const long = secrets.filter(([value]) => value.length >= secretLength);
  long.sort(([a], [b]) => b.length - a.length);
  return long.reduce((said, [value, name]) => said.replaceAll(value, `[${name}]`), text);
}

/** Names of flags whose values are secret: `--api-key`, `--dbPassword`. */
const secretName =
  /(authorization|key|token|secret|password|passwd|passphrase|credentials?|cookie|dsn)$|(^|[-_])(auth|pass|pwd|pat)$/i;
const flag = /^--?([A-Za-z][\w.-]*)$/;
const assignment = /^(-*([A-Za-z_][\w.-]*)=|([A-Za-z][\w-]*): *)(.+)$/s;
/** The password in a URL, which may be a part of an argument. */
const urlPassword = /(?<=\b[a-z][\w+.-]*:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/gi;
/** A parameter in the query of a URL, which may be a part of an argument. */
const parameter = /([?&]([A-Za-z][\w.-]*)=)([^\s&#]+)/g;
/** Keys of well-known services, and JSON Web Tokens. */
const knownKey = /\b(?:sk|gh[opsu]|github_pat|glpat|xox[abprs]|hf|AKIA|AIza|eyJ)[-_]?[\w.-]{16,}/g;
const bearer = /(?<=\bBearer +)\S+/gi;
const variable = /\$\{\w+\}/;

/** How a secret is written instead. `name` is the name of its flag or variable. */
type Hide = (value: string, name: string) => string;

/**
 * The arguments, with what looks secret replaced: the value of a flag such as `--api-key`, a password or a key in a URL, a key of a well-known
 * service. A value that names a variable is kept, because the name is no secret.
 */
export function hideInArguments(args: readonly string[], hide: Hide = () => '[redacted]'): string[] {
  const kept = (value: string, name: string) => (variable.test(value) ? value : hide(value, name));
  return args.map((arg, at) => {
    const [, asked = ''] = flag.exec(args[at - 1] ?? '') ?? [];
    if (secretName.test(asked) && !flag.test(arg)) return kept(arg, asked);
    const [, head = '', name = '', header = '', value = ''] = assignment.exec(arg) ?? [];
    if (secretName.test(name || header)) return head + kept(value, name || header);
    return arg
      .replace(urlPassword, (found) => kept(found, 'password'))
      .replace(parameter, (found, head, name, value) =>
        secretName.test(name) ? head + kept(value, name) : found,
      )
      .replace(bearer, (found) => kept(found, 'token'))
      .replace(knownKey, (found) => kept(found, 'key'));
  });
}
