/** defineMcpEnv: an environment made of MCP servers and tasks. By default, the policy uses the servers' tools, then answers. */
import {
  defineToolEnv,
  type EnvCapabilities,
  type EnvDefinition,
  type EnvLimits,
  type EnvOptions,
  type Episode,
  type EpisodeContext,
  type JsonSchema,
  type Message,
  type RewardDeclaration,
  type Script,
  type Scripted,
  type Tool,
  type ToolEnvDefinition,
  ToolEnvError,
} from '@toolenv/core';
import type { ToolLease, ToolSource } from '@toolenv/core/recording';
import type { OptionsOf } from '@toolenv/core/schemas';
import { EpisodeFolders } from './episode-folders.ts';
import {
  type McpServerContext,
  type McpServerOf,
  type McpServersRequest,
  openMcpServers,
} from './mcp-servers.ts';
import {
  firstTask,
  type McpSplits,
  type McpTask,
  type McpTasks,
  mcpTaskSchema,
  ownTaskSchema,
  readTasks,
} from './mcp-task.ts';

const poolOptions = {
  maxServers: { type: 'integer', minimum: 1, default: 8, description: 'largest number of server processes' },
  lifetime: {
    enum: ['episode', 'shared'],
    default: 'episode',
    description: 'episode: each episode has its own server; shared: episodes share servers',
  },
} as const;

/** Options of a run, beside those of the definition. */
export type McpEnvOptions = OptionsOf<{ properties: typeof poolOptions }>;

/** The definition's own options, as the properties of a JSON Schema. */
export interface McpOptionsSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/** What an episode's servers, hooks and rewards share. */
export interface McpEpisodeState {
  /** A fresh, empty folder of the episode. It is removed at the end. */
  folder: string;
}

/** What {@link McpEnvDefinition.episode} receives. */
export interface McpEpisodeContext<Task = unknown, Options = unknown>
  extends McpServerContext<Task, Options>,
    Pick<EpisodeContext, 'rng' | 'signal' | 'call'> {
  /** The tools that the policy gets by default. */
  tools: readonly Tool[];
}

export interface McpEnvDefinition<
  Task,
  Name extends string,
  Schema extends McpOptionsSchema,
  Options = EnvOptions<Schema> & McpEnvOptions,
> {
  /** `<name>-v<N>`. */
  readonly name: string;
  readonly description?: string;
  /** The definition's own options. */
  readonly options?: Schema;
  readonly limits?: Partial<EnvLimits>;
  /** Default: `networked` if a server has a URL. */
  readonly capabilities?: EnvCapabilities;
  /** The tasks. Those of a file, or of one array, may name their `split`; by default they belong to `test`. */
  readonly tasks: McpTasks<Task>;
  /** The server. A function gives each episode a server of its own, which may depend on its task and its folder. */
  readonly server?: McpServerOf<NoInfer<Task>, Options>;
  /** Several servers by name, in place of `server`. Their tools are offered together. */
  readonly servers?: Readonly<Record<string, McpServerOf<NoInfer<Task>, Options>>>;
  /** Whether the tools of `servers` are named `<server>_<tool>`. Default false: two tools of one name are an error. */
  readonly prefix?: boolean;
  /** Names of the tools that the policy gets. The environment itself may call all of them. Default: all. */
  readonly only?: readonly string[];
  /** The system message. Default: none. */
  readonly system?: string;
  /**
   * Rewards, in place of `correct`: 1 for an answer equal to the task's, ignoring case and white space. Functions may call the
   * servers' tools: `call('read_graph')`.
   */
  readonly rewards?: {
    readonly [Reward in Name]: RewardDeclaration<
      EpisodeContext<NoInfer<Task>, McpEpisodeState, unknown, Options>
    >;
  };
  /**
   * Begins an episode: may fill the servers with `call`, or the folder, before the policy sees anything. Default messages: the
   * task's `prompt`. Default tools: those of the servers. Default end: the first answer.
   */
  episode?(
    context: McpEpisodeContext<NoInfer<Task>, Options>,
  ): Partial<Episode<NoInfer<Name>>> | undefined | Promise<Partial<Episode<NoInfer<Name>>> | undefined>;
  oracle?(task: NoInfer<Task>): readonly Scripted[] | Script;
  label?(task: NoInfer<Task>): string | undefined;
}

/** What the episodes of an open environment share. */
interface Shared<Task, Options> {
  tasks: McpSplits<Task>;
  servers: ToolSource<McpServersRequest<Task, Options>>;
  folders: EpisodeFolders;
}

/**
 * Defines the environment.
 * @throws ToolEnvError `usage.mcp_servers` unless either `server` or `servers` is given. When it is opened: `usage.mcp_tasks` for
 *   an unreadable file or a malformed line, `usage.mcp_tool` for a name in `only` that no server offers, `usage.mcp_tool_names`
 *   for two tools of one name, and as `openMcpPool` does.
 */
export function defineMcpEnv<
  Task = McpTask,
  const Name extends string = 'correct',
  const Schema extends McpOptionsSchema = { properties: Record<never, never> },
>(
  definition: McpEnvDefinition<Task, Name, Schema>,
): EnvDefinition<Task, EnvOptions<Schema> & McpEnvOptions & EnvLimits> {
  type Options = EnvOptions<Schema> & McpEnvOptions;
  type Definition = ToolEnvDefinition<Task, Name, JsonSchema, Shared<Task, Options>, McpEpisodeState>;
  const { name, description = `${name}: tasks for an MCP server`, only, prefix = false, system } = definition;
  const { oracle, label } = definition;
  const servers = serversOf(definition);
  const taskSchema = definition.rewards || definition.episode ? ownTaskSchema : mcpTaskSchema;
  const rewards = definition.rewards ?? { correct };

  const toolEnv: Definition = {
    name,
    description,
    options: withPoolOptions(name, servers, definition.options),
    limits: { maxTurns: 8, ...definition.limits },
    capabilities: { networked: Object.values(servers).some(hasUrl), ...definition.capabilities },
    async setup({ options: given, tap }) {
      const options = given as Options;
      const tasks = await readTasks(definition.tasks, taskSchema);
      const folders = new EpisodeFolders();
      const open = async () => {
        const { maxServers: size, lifetime = 'episode' } = options;
        const folder = await folders.create();
        const first = { task: firstOf(tasks, name), folder, episodeId: 'open', options };
        try {
          return await openMcpServers(servers, { size, lifetime, prefix, only, first });
        } finally {
          await folders.remove(folder);
        }
      };
      try {
        return { tasks, folders, servers: tap ? await tap.source(open) : await open() };
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
      const folder = await shared.folders.create();
      state.folder = folder;
      let lease: ToolLease | undefined;
      const release = async () => {
        await lease?.release();
        await shared.folders.remove(folder);
      };
      try {
        lease = await shared.servers.acquire({ task, folder, episodeId, options, signal });
        const all = () => lease!.tools;
        const offered = () => all().filter((tool) => !only || only.includes(tool.name));
        const call: EpisodeContext['call'] = async (tool, args) => {
          // The time to start is not the tool's.
          await lease?.ready?.(signal);
          return context.call(toolOf(tool, all()), args);
        };
        const own = await definition.episode?.({
          task,
          folder,
          episodeId,
          options,
          rng,
          signal,
          call,
          tools: offered(),
        });
        const messages = toMessages(own?.messages ?? promptOf(task, name));
        return {
          tools: offered,
          environmentTools: all,
          ...own,
          messages: system === undefined ? messages : [{ role: 'system', content: system }, ...messages],
          async close() {
            try {
              await own?.close?.();
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
    ...(oracle && { oracle }),
    ...(label && { label }),
  };
  return defineToolEnv(toolEnv) as EnvDefinition<Task, EnvOptions<Schema> & McpEnvOptions & EnvLimits>;
}

/** The reward of an environment without rewards of its own. */
const correct: RewardDeclaration<EpisodeContext<McpTask>> = {
  kind: 'outcome',
  score({ task: { answer }, answer: said = '' }) {
    if (answer === undefined) return null;
    return Number([answer].flat().some((right) => normalise(right) === normalise(said)));
  },
};

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
  if (server && !servers) return { server };
  if (!server && servers && Object.keys(servers).length > 0) return servers;
  const message = `${name} needs either a \`server\`, or \`servers\` by name: give one of the two.`;
  throw new ToolEnvError('usage.mcp_servers', message);
}

function hasUrl(server: object): boolean {
  return 'url' in server;
}

/** The definition's options and those of the pool. Without a server that can be shared, there is no `lifetime`. */
function withPoolOptions(env: string, servers: Servers<never, never>, own?: McpOptionsSchema): JsonSchema {
  const { lifetime, ...size } = poolOptions;
  const canShare = Object.values(servers).some((server) => typeof server !== 'function');
  const properties: Record<string, JsonSchema> = canShare ? poolOptions : size;
  const taken = Object.keys(properties).find((name) => Object.hasOwn(own?.properties ?? {}, name));
  if (taken === undefined) return { ...own, properties: { ...own?.properties, ...properties } };
  const message = `${env}: option "${taken}" is an option of every MCP environment already: rename yours.`;
  throw new ToolEnvError('bug.environment', message);
}

function firstOf<Task>(tasks: McpSplits<Task>, env: string): Task {
  const task = firstTask(tasks);
  if (task !== undefined) return task;
  throw new ToolEnvError('usage.mcp_tasks', `${env} has no tasks: give it at least one.`);
}

function toolOf(asked: Tool | string, tools: readonly Tool[]): Tool | string {
  return tools.find(({ name }) => name === asked) ?? asked;
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
