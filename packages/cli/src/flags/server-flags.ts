/** The flags that name an MCP server: --mcp, --env, --header and --only. */
import { ToolEnvError } from '@toolenv/core';
import { Option } from 'commander';
import { importMcp } from '../commands/import-optional.ts';

export interface ServerFlags {
  mcp: string;
  env?: string[];
  header?: string[];
  only?: string;
}

export function serverFlags(): Option[] {
  return [
    new Option(
      '--mcp <server>',
      'command that starts the server, or URL of its endpoint',
    ).makeOptionMandatory(),
    new Option('--env <NAME=value...>', "add variables to the server's environment"),
    new Option('--header <Name: value...>', 'add headers to requests to a URL'),
    new Option('--only <tools>', 'offer only these tools: names, separated by commas'),
  ];
}

/** The server, and the names of the tools to offer. Throws as `parseServer` and `withAdditions` do. */
export async function readServer({ mcp, env, header, only }: ServerFlags): Promise<{
  server: import('@toolenv/mcp').McpEndpoint;
  only?: string[];
}> {
  const { parseServer, withAdditions } = await importMcp('--mcp');
  const server = parseServer(mcp);
  const wrong = 'url' in server ? env && '--env is for a command' : header && '--header is for a URL';
  if (wrong) throw new ToolEnvError('usage.arguments', `${wrong}: leave it out, or name another server.`);
  return {
    server: withAdditions(server, { env, header }),
    ...(only !== undefined && { only: only.split(',').map((name) => name.trim()) }),
  };
}
