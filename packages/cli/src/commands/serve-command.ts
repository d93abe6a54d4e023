/** `toolenv serve`: serves an environment to clients that speak MCP or OpenEnv, or a search tool to trainers in Python. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type JsonSchema, type OpenedEnv, ToolEnvError } from '@toolenv/core';
import { keepSecret } from '@toolenv/core/secrets';
import { type EpisodeOptions, isLoopback, type ServeOptions } from '@toolenv/core/serving';
import { httpFlags, readHttpFlags } from '../flags/http-flags.ts';
import { addPluginFlags, type Chosen } from '../flags/plugin-flags.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { type EnvFlags, envFlags, environmentHelp, openRunEnv, readTools } from '../run/open-run.ts';
import { httpSchema, importMcp, importOpenEnv } from './import-optional.ts';
import type { MakeCommand } from './make-command.ts';
import { searchPort, serveTool } from './serve-tool.ts';
import { stayOpen } from './stay-open.ts';

const schema = {
  type: 'object',
  properties: {
    http: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      description:
        'serve over HTTP on this port, 0 for any free port (default: MCP over stdio, OpenEnv and search on port 8000)',
    },
    protocol: { enum: ['mcp', 'openenv'], default: 'mcp', description: 'protocol of the clients' },
    drain: {
      type: 'integer',
      minimum: 0,
      default: 0,
      milliseconds: true,
      description: 'time for clients of OpenEnv to end their sessions after SIGTERM or Ctrl-C',
    },
    scores: {
      type: 'string',
      minLength: 1,
      description: 'append the score of each episode that MCP clients play to this JSONL file',
    },
    split: { enum: ['train', 'validation', 'test'], default: 'test', description: 'tasks to play' },
    seed: {
      type: 'integer',
      minimum: 0,
      default: 1,
      description: 'seed of the environment and its episodes',
    },
  },
} as const;

export const make: MakeCommand = async (command, { words, signal }) => {
  const http = await httpSchema();
  command
    .description(
      'Serves an environment as an MCP server or an OpenEnv server. Each client plays its own episodes. Without an environment, --tool search=<reference> serves a search tool over HTTP, with the protocols of the retrieval servers of Search-R1 and Agent-R1.',
    )
    .argument('[environment]', environmentHelp);
  for (const flag of [...envFlags(), ...schemaFlags(schema)]) command.addOption(flag);
  for (const flag of httpFlags(http)) command.addOption(flag.helpGroup('Options of --http:'));
  const { env } = await addPluginFlags(command, words);
  command.action((ref: string | undefined, given: EnvFlags & Record<string, unknown>) =>
    ref === undefined
      ? serveSearchTool(given, http, signal)
      : serve(ref, { chosen: env!.chosen(given), given, http, signal }),
  );
};

async function serveSearchTool(
  given: EnvFlags & Record<string, unknown>,
  http: JsonSchema,
  signal: AbortSignal,
): Promise<void> {
  if (!given.tool?.length)
    throw refuse('Name what to serve: an environment, or a search tool with --tool search=<reference>.');
  const { http: port = searchPort } = completeFlags(schema, given);
  const options = { ...(readHttpFlags(http, given, port) as ServeOptions) };
  const secret = withToken(options);
  const service = await serveTool(readTools(given.tool), options);
  announce(service.name, service.url, secret);
  await stayOpen(service, signal);
}

/** As Jupyter does: other machines can connect, so they need a secret. @returns A token that was made now. */
function withToken(options: ServeOptions): string | undefined {
  const isOpen = options.host !== undefined && !isLoopback(options.host) && options.token === undefined;
  if (isOpen) options.token = randomBytes(32).toString('hex');
  return isOpen ? options.token : undefined;
}

/** Over stdio, the server writes to stdout: say this on stderr. */
function announce(name: string, url: string | undefined, token: string | undefined): void {
  process.stderr.write(url ? `${name} is served at ${url}\n` : `${name} is served over stdio\n`);
  if (token !== undefined) process.stderr.write(`Clients need this header: Authorization: Bearer ${token}\n`);
}

interface Serving {
  chosen: Chosen<'envs'>;
  given: EnvFlags & Record<string, unknown>;
  http: JsonSchema;
  signal: AbortSignal;
}

/** The port of OpenEnv's own servers. */
const openEnvPort = 8_000;

async function serve(name: string, { chosen, given, http, signal }: Serving): Promise<void> {
  const { http: givenPort, protocol, drain, scores, split, seed } = completeFlags(schema, given);
  if (drain > 0 && protocol !== 'openenv')
    throw refuse('--drain is for clients of OpenEnv: give --protocol openenv too.');
  if (scores !== undefined && protocol !== 'mcp')
    throw refuse('--scores is for clients of MCP: leave out --protocol openenv.');
  const port = givenPort ?? (protocol === 'openenv' ? openEnvPort : undefined);
  const options: Record<string, unknown> & ServeOptions = readHttpFlags(http, given, port);
  const start = protocol === 'openenv' ? await openEnvServer() : await mcpServer(scores);
  const secret = withToken(options);
  const env = await openRunEnv(chosen, { ...given, seed });
  try {
    const service = await start(env, port === undefined ? undefined : options, { split, seed });
    announce(name, service.url, secret);
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

function refuse(message: string): ToolEnvError {
  return new ToolEnvError('usage.arguments', message);
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
  const controlToken = keepSecret(process.env.TOOLENV_CONTROL_TOKEN);
  const control = controlToken === undefined ? {} : { controlToken };
  return (env, http, episodes) =>
    serveMcp(env, { transport: http ? { ...control, ...http, type: 'http' } : 'stdio', scores, ...episodes });
}

async function openEnvServer(): Promise<Start> {
  const { serveOpenEnv } = await importOpenEnv('--protocol openenv');
  return (env, http, episodes) => serveOpenEnv(env, { ...http, ...episodes });
}
