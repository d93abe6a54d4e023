/** Additions to a server that come from outside its definition: variables of its environment, headers, and the values of `${NAME}`. */
import { ToolEnvError } from '@toolenv/core';
import { registerNamedSecrets } from '@toolenv/core/secrets';
import { hideInArguments } from './hide-arguments.ts';
import { describeServer, type McpCommand, type McpEndpoint, type McpUrl } from './mcp-server.ts';

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
