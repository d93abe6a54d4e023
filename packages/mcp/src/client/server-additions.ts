/** Additions to a server that come from outside its definition: variables of its environment, headers, and `${NAME}` in their values. */
import { ToolEnvError } from '@toolenv/core';
import { describeServer, type McpEndpoint } from './mcp-server.ts';

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

/**
 * The server, with the variables of this process in place of `${NAME}` in the values of `env` and `headers`. So a definition or an
 * option names a secret without containing it.
 * @throws ToolEnvError `usage.mcp_variable` for a variable that is not set.
 */
export function withVariables(server: McpEndpoint): McpEndpoint {
  const expand = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        value.replace(/\$\{(\w+)\}/g, (_, variable: string) => readVariable(variable, server)),
      ]),
    );
  if ('command' in server) return server.env ? { ...server, env: expand(server.env) } : server;
  return server.headers ? { ...server, headers: expand(server.headers) } : server;
}

function readVariable(variable: string, server: McpEndpoint): string {
  const value = process.env[variable];
  if (value !== undefined) return value;
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
