/** `toolenv serve`: serves an environment to any client that speaks MCP. */
import { once } from 'node:events';
import { Command } from 'commander';
import { addEnvFlags, chosenEnv, type NamedEnv } from '../flags/env-flags.ts';
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
      description:
        'serve over Streamable HTTP on this port of 127.0.0.1, 0 for any free port (default: serve over stdio)',
    },
    split: { enum: ['train', 'validation', 'test'], default: 'test', description: 'tasks to play' },
    seed: { type: 'integer', minimum: 0, default: 1, description: 'of the environment and its episodes' },
  },
} as const;

export function serveCommand(signal: AbortSignal, env: NamedEnv): Command {
  const command = new Command('serve')
    .summary('serve an environment to MCP clients')
    .description('Serves an environment as an MCP server. Each client has its own session.')
    .argument(
      '<environment>',
      'reference, as @toolenv/envs-qa/bridge-v1, or a module; its options are flags',
    );
  for (const flag of [...envFlags(), ...schemaFlags(schema)]) command.addOption(flag);
  addEnvFlags(command, env);
  return command.action((ref: string, given: EnvFlags & Record<string, unknown>) =>
    serve(ref, chosenEnv(env, given), given, signal),
  );
}

async function serve(
  name: string,
  chosen: ChosenEnv,
  given: EnvFlags & Record<string, unknown>,
  signal: AbortSignal,
): Promise<void> {
  const { http, split, seed } = completeFlags(schema, given);
  const { serveMcp } = await importMcp('toolenv serve');
  const env = await openRunEnv(chosen, { ...given, seed });
  try {
    const transport = http === undefined ? 'stdio' : ({ type: 'http', port: http } as const);
    const service = await serveMcp(env, { transport, split, seed });
    // Over stdio, the server writes to stdout: say this on stderr.
    process.stderr.write(
      service.url ? `${name} is served at ${service.url}\n` : `${name} is served over stdio\n`,
    );
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
