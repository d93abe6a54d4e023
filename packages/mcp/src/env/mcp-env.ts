/** defineMcpEnv: an environment made of MCP servers and tasks. By default, the policy uses the servers' tools, then answers. */
import { isDeepStrictEqual } from 'node:util';
import {
  defineToolEnv,
  type EnvDefinition,
  type EnvLimits,
  type Episode,
  type EpisodeContext,
  isParseFailure,
  type JsonSchema,
  type Message,
  type RewardDeclaration,
  type Scripted,
  type Split,
  type TaskSet,
  type ToolCallRecord,
  type ToolEnvDefinition,
  ToolEnvError,
} from '@toolenv/core';
import type { ToolLease, ToolSource } from '@toolenv/core/recording';
import type { EnvOptions } from '@toolenv/core/schemas';
import { type ToolSearchOptions, toolSearch, usableToolName } from '@toolenv/core/tools';
import { EpisodeFolders } from './episode-folders.ts';
import {
  type McpEnvDefinition,
  type McpEnvOptions,
  type McpEpisodeState,
  type McpOptionsSchema,
  withPoolOptions,
} from './mcp-env-definition.ts';
import {
  type McpServerOf,
  type McpServersRequest,
  openMcpServers,
  type ServerAccess,
} from './mcp-servers.ts';
import { firstTask, type McpTask, mcpTaskSchema, ownTaskSchema, readTasks } from './mcp-task.ts';

/** What the episodes of an open environment share. */
interface Shared<Task, Options> {
  /** Names of the tools that the policy gets; `undefined` for all. */
  only: readonly string[] | undefined;
  tasks: Record<Split, TaskSet<Task>>;
  servers: ToolSource<McpServersRequest<Task, Options>>;
  folders: EpisodeFolders;
  /** Milliseconds in which the servers started. */
  start: number;
}

/**
 * Defines the environment. `defineMcpEnv<Task>()({ … })` takes the type of a task by hand.
 * @throws ToolEnvError `usage.mcp_servers` unless either `server` or `servers` is given. When it is opened: `usage.mcp_tasks` for
 *   an unreadable file or a malformed line, `usage.mcp_tool` for a name in `only` that no server offers, `usage.mcp_tool_names`
 *   for two tools of one name, and as `openMcpPool` does.
 */
export function defineMcpEnv<
  Task = McpTask,
  const Name extends string = 'correct',
  const Schema extends McpOptionsSchema = { properties: Record<never, never> },
  Begun extends Partial<Episode<NoInfer<Name>>> = Partial<Episode<NoInfer<Name>>>,
>(
  definition: McpEnvDefinition<Task, Name, Schema, Begun>,
): EnvDefinition<Task, EnvOptions<Schema> & McpEnvOptions & EnvLimits>;
export function defineMcpEnv<Task>(): <
  const Name extends string = 'correct',
  const Schema extends McpOptionsSchema = { properties: Record<never, never> },
  Begun extends Partial<Episode<NoInfer<Name>>> = Partial<Episode<NoInfer<Name>>>,
>(
  definition: McpEnvDefinition<Task, Name, Schema, Begun>,
) => EnvDefinition<Task, EnvOptions<Schema> & McpEnvOptions & EnvLimits>;
export function defineMcpEnv(
  ...definitions: [] | [McpEnvDefinition<McpTask, string, McpOptionsSchema>]
): unknown {
  const [definition] = definitions;
  return definition ? mcpEnv(definition) : defineMcpEnv;
}

function mcpEnv<Task, Name extends string, Schema extends McpOptionsSchema>(
  definition: McpEnvDefinition<Task, Name, Schema>,
): EnvDefinition<Task, EnvOptions<Schema> & McpEnvOptions & EnvLimits> {
  type Options = EnvOptions<Schema> & McpEnvOptions;
  type Definition = ToolEnvDefinition<Task, Name, JsonSchema, Shared<Task, Options>, McpEpisodeState>;
  const { name, description = `${name}: tasks for an MCP server`, offer, hooks, prefix = false } = definition;
  const search = definition.toolSearch === true ? {} : definition.toolSearch || undefined;
  const isPlain = !definition.rewards && !definition.episode;
  const taskSchema = isPlain ? mcpTaskSchema : ownTaskSchema;
  const { rewards = { correct }, oracle = isPlain ? answerOf(search) : undefined, label } = definition;
  const servers = serversOf(definition);
  refuseReset(definition, servers);

  const toolEnv: Definition = {
    name,
    description,
    options: withPoolOptions(name, servers, definition.options),
    ...(definition.system !== undefined && { prompts: { system: definition.system } }),
    limits: { maxTurns: 8, ...definition.limits },
    capabilities: {
      networked: Object.values(servers).some((server) => 'url' in server),
      ...definition.capabilities,
    },
    async setup({ options: given, seed, tap }) {
      const options = given as Options;
      const source = definition.tasks;
      const tasks = await readTasks(
        typeof source === 'function' ? source({ options, seed }) : source,
        taskSchema,
      );
      const only = chosenTools(options.only, definition);
      const folders = new EpisodeFolders();
      const open = async () => {
        const { maxServers: size, lifetime = 'episode', env, header } = options;
        const additions = { env, header };
        const access = accessOf(definition, options);
        const folder = await folders.create();
        const first = { task: await firstTask(tasks, name), folder, episodeId: 'open', options };
        try {
          return await openMcpServers(servers, {
            size,
            lifetime,
            prefix,
            only,
            offer,
            reset: definition.reset,
            createFolder: () => folders.create(),
            additions,
            access,
            hooks,
            first,
          });
        } finally {
          await folders.remove(folder);
        }
      };
      try {
        const begun = performance.now();
        const servers = tap ? await tap.source(open) : await open();
        return { tasks, folders, only, servers, start: performance.now() - begun };
      } catch (error) {
        await folders.close();
        throw error;
      }
    },
    async teardown({ servers, folders }) {
      await servers.close();
      await folders.close();
    },
    tasks: ({ shared }) => shared.tasks,
    state: () => ({ folder: '' }),
    rewards: rewards as unknown as Definition['rewards'],
    async episode(context) {
      const { task, episodeId, rng, signal, state, shared } = context;
      const options = context.options as Options;
      const own = await shared.folders.create();
      let lease: ToolLease | undefined;
      const release = async () => {
        await lease?.release();
        await shared.folders.remove(own);
      };
      try {
        lease = await shared.servers.acquire({ task, folder: own, episodeId, options, signal });
        const folder = lease.folder ?? own;
        state.folder = folder;
        // A start in the background counts towards the time limit of the first call.
        if (shared.start > context.limits.toolTimeout / 2) await lease.ready?.(signal);
        const all = () => lease!.tools;
        const only = shared.only?.map(usableToolName);
        const offered = () => all().filter(({ name }) => only?.includes(name) ?? true);
        const call: EpisodeContext['call'] = async (tool, args) => {
          // The server's start does not count towards the tool's time limit.
          await lease?.ready?.(signal);
          return context.call(
            all().find(({ name }) => name === (typeof tool === 'string' ? usableToolName(tool) : tool)) ??
              tool,
            args,
          );
        };
        const begun = await definition.episode?.({
          task,
          folder,
          episodeId,
          options,
          rng,
          signal,
          call,
          tools: offered(),
        });
        const messages = toMessages(begun?.messages ?? promptOf(task, name));
        const system = [
          definition.system !== undefined && context.prompt('system'),
          definition.instructions && lease.instructions,
        ]
          .filter((text) => typeof text === 'string')
          .join('\n\n');
        return {
          tools: search ? toolSearch(offered, search) : offered,
          environmentTools: all,
          ...begun,
          messages: system === '' ? messages : [{ role: 'system', content: system }, ...messages],
          async close() {
            try {
              await begun?.close?.();
            } finally {
              await release();
            }
          },
        };
      } catch (error) {
        await release();
        throw error;
      }
    },
    ...(oracle && { oracle: (task) => oracle(task as Task & McpTask) }),
    ...(label && { label }),
  };
  return defineToolEnv(toolEnv) as EnvDefinition<Task, EnvOptions<Schema> & McpEnvOptions & EnvLimits>;
}

function accessOf(definition: ServerAccess, options: ServerAccess): ServerAccess {
  const {
    connectTimeout = definition.connectTimeout,
    callTimeout = definition.callTimeout,
    closeGrace = definition.closeGrace,
    initialize = definition.initialize,
  } = options;
  return { connectTimeout, callTimeout, closeGrace, initialize };
}

/**
 * The tools that the policy gets: from the option if it is set, otherwise from the definition.
 * @throws ToolEnvError `usage.mcp_tool` for a tool that the definition does not give to policies.
 */
function chosenTools(
  chosen: readonly string[] | undefined,
  { name, only }: { name: string; only?: readonly string[] },
): readonly string[] | undefined {
  const other = chosen?.find((tool) => only && !only.includes(tool));
  if (other === undefined) return chosen ?? only;
  const message = `${name} does not offer "${other}": choose from ${only!.join(', ')}.`;
  throw new ToolEnvError('usage.mcp_tool', message);
}

/** The default reward. */
const correct: RewardDeclaration<EpisodeContext<McpTask>> = {
  kind: 'outcome',
  score({ task: { answer, calls = {} }, answer: said = '', calls: made }) {
    if (answer === undefined) return null;
    const isRight = [answer].flat().some((right) => normalise(right) === normalise(said));
    const isMade = Object.entries(calls).every(([name, args]) => wasCalled(made, name, args));
    return Number(isRight && isMade);
  },
};

/** Whether a tool has answered a call with these arguments, and perhaps others. */
function wasCalled(made: readonly ToolCallRecord[], name: string, args: Record<string, unknown>): boolean {
  return made.some(({ call, result }) => {
    if (!result || isParseFailure(call) || call.name !== name) return false;
    return isDeepStrictEqual({ ...call.arguments, ...args }, call.arguments);
  });
}

function answerOf(search: ToolSearchOptions | undefined) {
  return ({ answer, calls = {} }: McpTask): Scripted[] | undefined => {
    if (answer === undefined) return undefined;
    const asked = Object.entries(calls).map(([name, args]) => ({ name, arguments: args }));
    const { name = 'find_tools' } = search ?? {};
    const searches = asked.map((call) => ({ name, arguments: { query: call.name.replaceAll('_', ' ') } }));
    const turns = [...(search ? [searches] : []), asked].filter((turn) => turn.length > 0);
    return [...turns, [answer].flat()[0]!];
  };
}

function normalise(text: string): string {
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
}

type Servers<Task, Options> = Readonly<Record<string, McpServerOf<Task, Options>>>;

function serversOf<Task, Options>(definition: {
  name: string;
  server?: McpServerOf<Task, Options>;
  servers?: Servers<Task, Options>;
}): Servers<Task, Options> {
  const { name, server, servers } = definition;
  const text = [server, ...Object.values(servers ?? {})].find((given) => typeof given === 'string');
  if (text !== undefined) {
    const remedy =
      "give { command: 'node', args: ['server.js'] }, { url: 'https://…' }, or parseServer(text)";
    throw new ToolEnvError('usage.mcp_servers', `${name} has a text for a server, "${text}": ${remedy}.`);
  }
  if (server && !servers) return { server };
  if (!server && servers && Object.keys(servers).length > 0) return servers;
  const message = `${name} needs either a \`server\`, or \`servers\` by name: give one of the two.`;
  throw new ToolEnvError('usage.mcp_servers', message);
}

/** @throws ToolEnvError `usage.mcp_servers` for a reset of several servers that share the folder of an episode. */
function refuseReset<Task, Options>(
  { name, reset }: { name: string; reset?: unknown },
  servers: Servers<Task, Options>,
): void {
  const names = Object.keys(servers);
  const own = names.find((each) => typeof servers[each] === 'function');
  if (!reset || own === undefined || names.length === 1) return;
  const message = `${name}: \`reset\` keeps each server, with its folder, for later episodes, and "${own}" shares a folder with other servers: leave \`reset\` out, or give one server.`;
  throw new ToolEnvError('usage.mcp_servers', message);
}

function toMessages(said: string | readonly Message[]): readonly Message[] {
  return typeof said === 'string' ? [{ role: 'user', content: said }] : said;
}

function promptOf(task: unknown, env: string): string {
  const { prompt } = Object(task) as { prompt?: unknown };
  if (typeof prompt === 'string') return prompt;
  const remedy = 'return `messages` from `episode`, or give its tasks a `prompt`';
  throw new ToolEnvError('bug.environment', `${env} does not say how an episode begins: ${remedy}.`);
}
