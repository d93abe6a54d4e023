/** `toolenv mcp login` and `logout`: OAuth for MCP servers at URLs. */
import { ToolEnvError } from '@toolenv/core';
import { importPackage } from '../flags/import-optional.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import type { MakeCommand } from './commands.ts';

/** Keeps the secret of a client out of the list of processes. */
const secretVariable = 'TOOLENV_MCP_CLIENT_SECRET';

const schema = {
  type: 'object',
  properties: {
    scope: { type: 'string', description: 'scopes to ask for (default: what the server asks for)' },
    clientId: {
      type: 'string',
      description: `id of a client that is registered already, with its secret in ${secretVariable}`,
    },
    expectedIssuer: {
      type: 'string',
      description: 'the only authorization server to trust (default: the one that the server names)',
    },
    callbackPort: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      default: 0,
      description: 'port on this machine for the answer of the browser, 0 for any free port',
    },
  },
} as const;

export const make: MakeCommand = (command, { signal }) => {
  command
    .description(
      'Logs in at an MCP server that wants OAuth, or forgets the login. Every command sends the tokens to this URL only, and refreshes them.',
    )
    .argument('<action>', 'login or logout')
    .argument('<url>', 'endpoint of the server');
  for (const flag of schemaFlags(schema)) command.addOption(flag);
  command
    .option('--json', 'print one JSON object: the URL, and whether there is a login now')
    .action((action: string, url: string, given: Record<string, unknown>) => run(action, url, given, signal));
};

async function run(
  action: string,
  url: string,
  given: Record<string, unknown>,
  signal: AbortSignal,
): Promise<void> {
  if (action !== 'login' && action !== 'logout')
    throw new ToolEnvError('usage.arguments', `toolenv mcp ${action}: give login or logout, and a URL.`);
  const { loginMcp, logoutMcp } = await importPackage('mcp', 'toolenv mcp');
  const { callbackPort: port, ...flags } = completeFlags(schema, given);
  let text: string;
  if (action === 'logout') {
    text = (await logoutMcp(url)) ? `Logged out of ${url}.` : `There was no login at ${url}.`;
  } else {
    const ask = (address: URL) => process.stderr.write(`Open this address in a browser:\n  ${address}\n`);
    await loginMcp(url, { ...flags, port, ask, signal, clientSecret: process.env[secretVariable] });
    text = `Logged in at ${url}.`;
  }
  const isLoggedIn = action === 'login';
  process.stdout.write(`${given.json ? JSON.stringify({ url, loggedIn: isLoggedIn }) : text}\n`);
}
