/** `toolenv serve`: serves an environment to clients that speak MCP or OpenEnv. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type JsonSchema, type OpenedEnv, ToolEnvError } from '@toolenv/core';
import { type EpisodeOptions, isLoopback, type ServeOptions } from '@toolenv/core/serving';
import { Command } from 'commander';
import { addEnvFlags, chosenEnv, type NamedEnv } from '../flags/env-flags.ts';
import { httpFlags, readHttpFlags } from '../flags/http-flags.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { type ChosenEnv, type EnvFlags, envFlags, openRunEnv } from '../run/open-run.ts';
import { importMcp } from './import-mcp.ts';
import { importOpenEnv } from './import-openenv.ts';

const schema = {
  type: 'object',
  properties: {
    http: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      description:
        'serve over HTTP on this port, 0 for any free port (default: MCP over stdio, OpenEnv on port 8000)',
    },
    protocol: { enum: ['mcp', 'openenv'], default: 'mcp', description: 'protocol of the clients' },
    drain: {
      type: 'integer',
      minimum: 0,
      default: 0,
      milliseconds: true,
      description: 'time that clients of OpenEnv have to end their sessions after SIGTERM or Ctrl-C',
    },
    scores: {
      type: 'string',
      minLength: 1,
      description: 'JSONL file to which the score of each episode that clients of MCP play is appended',
    },
    split: { enum: ['train', 'validation', 'test'], default: 'test', description: 'tasks to play' },
    seed: { type: 'integer', minimum: 0, default: 1, description: 'of the environment and its episodes' },
  },
} as const;

/** @param http Schema of the options of serving over HTTP. */
export function serveCommand(signal: AbortSignal, env: NamedEnv, http: JsonSchema): Command {
  const command = new Command('serve')
    .summary('serve an environment to clients of MCP or OpenEnv')
    .description(
      'Serves an environment as an MCP server or an OpenEnv server. Each client plays episodes of its own.',
    )
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

/** The port of OpenEnv's own servers. */
const openEnvPort = 8_000;

async function serve(name: string, { chosen, given, http, signal }: Serving): Promise<void> {
  const { http: givenPort, protocol, drain, scores, split, seed } = completeFlags(schema, given);
  if (drain > 0 && protocol !== 'openenv')
    throw new ToolEnvError(
      'usage.arguments',
      '--drain is for clients of OpenEnv: give --protocol openenv too.',
    );
  if (scores !== undefined && protocol !== 'mcp')
    throw new ToolEnvError(
      'usage.arguments',
      '--scores is for clients of MCP: leave out --protocol openenv.',
    );
  const port = givenPort ?? (protocol === 'openenv' ? openEnvPort : undefined);
  const options: Record<string, unknown> & ServeOptions = readHttpFlags(http, given, port);
  const start = protocol === 'openenv' ? await openEnvServer() : await mcpServer(scores);
  // As Jupyter does: other machines can connect, so they need a secret.
  const isOpen = options.host !== undefined && !isLoopback(options.host) && options.token === undefined;
  if (isOpen) options.token = randomBytes(32).toString('hex');
  const env = await openRunEnv(chosen, { ...given, seed });
  try {
    const service = await start(env, port === undefined ? undefined : options, { split, seed });
    // Over stdio, the server writes to stdout: say this on stderr.
    process.stderr.write(
      service.url ? `${name} is served at ${service.url}\n` : `${name} is served over stdio\n`,
    );
    if (isOpen) {
      process.stderr.write(`Clients need this header: Authorization: Bearer ${options.token}\n`);
    }
    try {
      await Promise.race([service.closed, signal.aborted || once(signal, 'abort')]);
      if (drain > 0) await service.drain?.(drain);
    } finally {
      await service.close();
    }
  } finally {
    await env.close();
  }
  signal.throwIfAborted();
}

interface Service {
  url?: string;
  closed: Promise<void>;
  drain?(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

/** @param http Absent to serve over stdio. */
type Start = (
  env: OpenedEnv<unknown>,
  http: ServeOptions | undefined,
  episodes: EpisodeOptions,
) => Promise<Service>;

async function mcpServer(scores: string | undefined): Promise<Start> {
  const { serveMcp } = await importMcp('toolenv serve');
  const controlToken = process.env.TOOLENV_CONTROL_TOKEN;
  const control = controlToken === undefined ? {} : { controlToken };
  return (env, http, episodes) =>
    serveMcp(env, { transport: http ? { ...control, ...http, type: 'http' } : 'stdio', scores, ...episodes });
}

async function openEnvServer(): Promise<Start> {
  const { serveOpenEnv } = await importOpenEnv('--protocol openenv');
  return (env, http, episodes) => serveOpenEnv(env, { ...http, ...episodes });
}
