/** `toolenv serve`: serves an environment to clients that speak MCP, OpenEnv or ORS, a policy to clients of models, or a search tool to trainers in Python. */
import { once } from 'node:events';
import { type JsonSchema, type OpenedEnv, ToolEnvError } from '@toolenv/core';
import { registerSecret } from '@toolenv/core/secrets';
import type { EnvService, EpisodeOptions, ServeOptions } from '@toolenv/serving';
import { flagName } from '../display/terminal-text.ts';
import { httpFlags, readHttpFlags } from '../flags/http-flags.ts';
import { importPackage, optionalSchema } from '../flags/import-optional.ts';
import { addPluginFlags, type PluginFlags, type ResolvedPlugin } from '../flags/plugin-flags.ts';
import { completeFlags, propertiesOf, readFlags, schemaFlags } from '../flags/schema-flags.ts';
import { type EnvFlags, envFlags, environmentHelp, openRunEnv, readTools } from '../run/open-run.ts';
import { announceEndpoint, withToken } from './announce-endpoint.ts';
import type { MakeCommand } from './commands.ts';
import { stayOpen } from './open-page.ts';
import { modelPort, serveModel } from './serve-model.ts';
import { searchPort, serveTool } from './serve-tool.ts';

const schema = {
  type: 'object',
  properties: {
    http: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      description:
        'serve over HTTP on this port, 0 for any free port (default: MCP over stdio, ORS on port 8080, everything else on port 8000)',
    },
    protocol: { enum: ['mcp', 'openenv', 'ors'], default: 'mcp', description: 'protocol of the clients' },
    drain: {
      type: 'integer',
      minimum: 0,
      default: 0,
      milliseconds: true,
      description: 'time for clients of OpenEnv and ORS to end their sessions after SIGTERM or Ctrl-C',
    },
    scores: {
      type: 'string',
      minLength: 1,
      description: 'append the score of each episode that MCP clients play to this JSONL file',
    },
    split: {
      enum: ['train', 'validation', 'test'],
      description: 'tasks to play (default: test; for clients of ORS, which choose a split, all)',
    },
    seed: {
      type: 'integer',
      minimum: 0,
      default: 1,
      description: 'seed of the environment and its episodes',
    },
  },
} as const;

export const make: MakeCommand = async (command, { words, signal }) => {
  const [http, model] = [await optionalSchema('http'), await optionalSchema('policy')];
  command
    .description(
      'Serves an environment as an MCP server, an OpenEnv server or a server of the Open Reward Standard (ORS). Each client plays its own episodes. Without an environment, --openai <policy> serves a policy to clients of the APIs of OpenAI and Anthropic, and --tool search=<reference> serves a search tool over HTTP, with the protocols of the retrieval servers of Search-R1 and Agent-R1.',
    )
    .argument('[environment]', environmentHelp)
    .option('--openai <policy>', 'serve this policy, named as for toolenv eval; its options are flags');
  for (const flag of [...envFlags(), ...schemaFlags(schema)]) command.addOption(flag);
  for (const flag of httpFlags(http)) command.addOption(flag.helpGroup('Options of --http:'));
  for (const flag of schemaFlags(model)) command.addOption(flag.helpGroup('Options of --openai:'));
  const isModel = words.some((word) => /^--openai(=|$)/.test(word));
  const { env, policies } = await addPluginFlags(command, words, isModel ? { policies: ['openai'] } : {});
  command.action((ref: string | undefined, given: Flags) => {
    refuseOthers(ref, given, Object.keys(propertiesOf(model)));
    if (given.openai !== undefined) return serveChosenModel(policies[0]!, given, { http, model, signal });
    if (ref === undefined) return serveSearchTool(given, http, signal);
    return serve(ref, { chosen: env!.chosen(given), given, http, signal });
  });
};

type Flags = EnvFlags & { openai?: string } & Record<string, unknown>;

/** Flags that only an environment has. */
const ofEnvironments = ['protocol', 'drain', 'scores', 'split', 'tool', 'envOption'];

/** Refuses flags of something else than what is served. */
function refuseOthers(ref: string | undefined, given: Flags, ofModels: readonly string[]): void {
  const isModel = given.openai !== undefined;
  if (isModel && ref !== undefined)
    throw refuse(`Serve ${ref} or --openai ${given.openai}: one of them, each with a command of its own.`);
  const other = (isModel ? ofEnvironments : ofModels).find((name) => given[name] !== undefined);
  if (other === undefined) return;
  throw refuse(`${flagName(other)} is ${isModel ? 'not for' : 'for'} --openai: leave it out.`);
}

async function serveChosenModel(
  policy: PluginFlags<'policies'>,
  given: Flags,
  { http, model, signal }: { http: JsonSchema; model: JsonSchema; signal: AbortSignal },
): Promise<void> {
  const { http: port = modelPort, seed } = completeFlags(schema, given);
  const options: ServeOptions = { ...readHttpFlags(http, given, port), ...readFlags(model, given) };
  const secret = withToken(options);
  const service = await serveModel(policy.chosen(given), options, { seed, signal });
  const key = options.token === undefined ? 'any key' : 'the token as key';
  announceEndpoint(`${given.openai} is served`, service.url, { key, secret });
  await stayOpen(service, signal);
}

async function serveSearchTool(given: Flags, http: JsonSchema, signal: AbortSignal): Promise<void> {
  if (!given.tool?.length)
    throw refuse(
      'Name what to serve: an environment, a policy with --openai <policy>, or a search tool with --tool search=<reference>.',
    );
  const { http: port = searchPort } = completeFlags(schema, given);
  const options = { ...(readHttpFlags(http, given, port) as ServeOptions) };
  const secret = withToken(options);
  const service = await serveTool(readTools(given.tool), options);
  announce(service.name, service.url, secret);
  await stayOpen(service, signal);
}

/** Over stdio, the server writes to stdout: say this on stderr. */
function announce(name: string, url: string | undefined, token: string | undefined): void {
  process.stderr.write(url ? `${name} is served at ${url}\n` : `${name} is served over stdio\n`);
  if (token !== undefined) process.stderr.write(`Clients need this header: Authorization: Bearer ${token}\n`);
}

interface Serving {
  chosen: ResolvedPlugin<'envs'>;
  given: Flags;
  http: JsonSchema;
  signal: AbortSignal;
}

/** The ports of the own servers of OpenEnv and ORS. MCP has stdio instead. */
const usualPorts: Readonly<Record<string, number>> = { openenv: 8_000, ors: 8_080 };

async function serve(name: string, { chosen, given, http, signal }: Serving): Promise<void> {
  const { http: givenPort, protocol, drain, scores, split, seed } = completeFlags(schema, given);
  if (drain > 0 && protocol === 'mcp')
    throw refuse('--drain is for clients of OpenEnv and ORS: give --protocol openenv or --protocol ors too.');
  if (scores !== undefined && protocol !== 'mcp')
    throw refuse(`--scores is for clients of MCP: leave out --protocol ${protocol}.`);
  const port = givenPort ?? usualPorts[protocol];
  const options: Record<string, unknown> & ServeOptions = readHttpFlags(http, given, port);
  const start = await starts[protocol](scores);
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

type Service = Pick<EnvService, 'closed' | 'close'> & Partial<EnvService>;

/** @param http Absent to serve over stdio. */
type Start = (
  env: OpenedEnv<unknown>,
  http: ServeOptions | undefined,
  episodes: EpisodeOptions,
) => Promise<Service>;

async function mcpServer(scores: string | undefined): Promise<Start> {
  const { serveMcp } = await importPackage('mcp', 'toolenv serve');
  const controlToken = registerSecret(process.env.TOOLENV_CONTROL_TOKEN);
  const control = controlToken === undefined ? {} : { controlToken };
  return (env, http, episodes) =>
    serveMcp(env, { transport: http ? { ...control, ...http, type: 'http' } : 'stdio', scores, ...episodes });
}

async function openEnvServer(): Promise<Start> {
  const { serveOpenEnv } = await importPackage('openenv', '--protocol openenv');
  return (env, http, episodes) => serveOpenEnv(env, { ...http, ...episodes });
}

async function orsServer(): Promise<Start> {
  const { serveOrs } = await importPackage('ors', '--protocol ors');
  return (env, http, episodes) => serveOrs(env, { ...http, ...episodes });
}

const starts = { mcp: mcpServer, openenv: openEnvServer, ors: orsServer };
