/** The flags that name an MCP server: --mcp, and the options that every environment of MCP servers has too. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import type { McpEndpoint, ServerOptions } from '@toolenv/mcp';
import { Option } from 'commander';
import { importPackage } from './import-optional.ts';
import { readFlags, schemaFlags } from './schema-flags.ts';

/** The values of these flags, as commander has them. */
export interface ServerFlags extends Record<string, unknown> {
  mcp: string;
}

/** @param schema Of the options: `optionalSchema`. */
export function serverFlags(schema: JsonSchema): Option[] {
  const mcp = new Option('--mcp <server>', 'command that starts the server, or URL of its endpoint');
  return [mcp.makeOptionMandatory(), ...schemaFlags(schema)];
}

/** The server, and how to use it. Throws as `readFlags`, `parseServer` and `withAdditions` do. */
export async function readServer(
  schema: JsonSchema,
  given: ServerFlags,
): Promise<{ server: McpEndpoint; options: Omit<ServerOptions, 'env' | 'header'> }> {
  const { parseServer, withAdditions } = await importPackage('mcp', '--mcp');
  const { env, header, ...options } = readFlags(schema, given) as ServerOptions;
  const server = parseServer(given.mcp);
  const wrong = 'url' in server ? env && '--env is for a command' : header && '--header is for a URL';
  if (wrong) throw new ToolEnvError('usage.arguments', `${wrong}: leave it out, or name another server.`);
  return { server: withAdditions(server, { env, header }), options };
}
