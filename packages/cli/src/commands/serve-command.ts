/** `toolenv serve`: serves an environment to any client that speaks MCP. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { JsonSchema } from '@toolenv/core';
import { isLoopback } from '@toolenv/core/serving';
import type { HttpOptions } from '@toolenv/mcp';
import { Command } from 'commander';
import { addEnvFlags, chosenEnv, type NamedEnv } from '../flags/env-flags.ts';
import { httpFlags, readHttpFlags } from '../flags/http-flags.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { type ChosenEnv, type EnvFlags, envFlags, openRunEnv } from '../run/open-run.ts';
import { importMcp } from './import-mcp.ts';

const schema = {
  type: 'object',
  properties: {
    http: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      description: 'serve over Streamable HTTP on this port, 0 for any free port (default: serve over stdio)',
    },
    split: { enum: ['train', 'validation', 'test'], default: 'test', description: 'tasks to play' },
    seed: { type: 'integer', minimum: 0, default: 1, description: 'of the environment and its episodes' },
  },
} as const;

/** @param http Schema of the options of serving over HTTP. */
export function serveCommand(signal: AbortSignal, env: NamedEnv, http: JsonSchema): Command {
  const command = new Command('serve')
    .summary('serve an environment to MCP clients')
    .description('Serves an environment as an MCP server. Each client has its own session.')
    .argument(
      '<environment>',
      'reference, as @toolenv/envs-qa/bridge-v1, or a module; its options are flags',
    );
  for (const flag of [...envFlags(), ...schemaFlags(schema)]) command.addOption(flag);
  for (const flag of httpFlags(http)) command.addOption(flag.helpGroup('Options of --http:'));
  addEnvFlags(command, env);
  return command.action((ref: string, given: EnvFlags & Record<string, unknown>) =>
    serve(ref, { chosen: chosenEnv(env, given), given, http, signal }),
  );
}

interface Serving {
  chosen: ChosenEnv;
  given: EnvFlags & Record<string, unknown>;
  http: JsonSchema;
  signal: AbortSignal;
}

async function serve(name: string, { chosen, given, http, signal }: Serving): Promise<void> {
  const { http: port, split, seed } = completeFlags(schema, given);
  const options: Record<string, unknown> & HttpOptions = readHttpFlags(http, given, port);
  const { serveMcp } = await importMcp('toolenv serve');
  // As Jupyter does: other machines can connect, so they need a secret.
  const isOpen = options.host !== undefined && !isLoopback(options.host) && options.token === undefined;
  if (isOpen) options.token = randomBytes(32).toString('hex');
  const env = await openRunEnv(chosen, { ...given, seed });
  try {
    const transport = port === undefined ? 'stdio' : ({ ...options, type: 'http' } as const);
    const service = await serveMcp(env, { transport, split, seed });
    // Over stdio, the server writes to stdout: say this on stderr.
    process.stderr.write(
      service.url ? `${name} is served at ${service.url}\n` : `${name} is served over stdio\n`,
    );
    if (isOpen) {
      process.stderr.write(`Clients need this header: Authorization: Bearer ${options.token}\n`);
    }
    try {
      await Promise.race([service.closed, signal.aborted || once(signal, 'abort')]);
    } finally {
      await service.close();
    }
  } finally {
    await env.close();
  }
  signal.throwIfAborted();
}
