/** McpEnvDefinition: the definition of an environment made of MCP servers. */
import {
  type EnvCapabilities,
  type EnvLimits,
  type Episode,
  type EpisodeContext,
  type JsonSchema,
  type OnlyParts,
  type RewardDeclaration,
  type Script,
  type Scripted,
  type Tool,
  ToolEnvError,
} from '@toolenv/core';
import type { EnvOptions, OptionsOf } from '@toolenv/core/schemas';
import type { ToolSearchOptions } from '@toolenv/core/tools';
import type { McpHooks } from '../client/mcp-hooks.ts';
import type { McpPrimitive } from '../client/primitive-tools.ts';
import { serverOptionsSchema } from '../client/server-options.ts';
import type { EnvReset, McpServerContext, McpServerOf } from './mcp-servers.ts';
import type { McpTasks } from './mcp-task.ts';

const poolProperties = {
  maxServers: { type: 'integer', minimum: 1, default: 8, description: 'largest number of server processes' },
  lifetime: {
    enum: ['episode', 'shared'],
    default: 'episode',
    description: 'episode: each episode has its own server; shared: episodes share servers',
  },
} as const;

/** Options of a run, in addition to the definition's own options. */
export type McpEnvOptions = OptionsOf<typeof serverOptionsSchema> &
  OptionsOf<{ properties: typeof poolProperties }>;

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
  Begun extends Partial<Episode> = Partial<Episode<NoInfer<Name>>>,
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
  /**
   * The tasks, or a function that draws them from the seed. Tasks in a file or in one array may name their `split`; the
   * default is `test`.
   */
  readonly tasks: McpTasks<Task> | ((context: { options: Options; seed: number }) => McpTasks<Task>);
  /** The server. A function gives each episode its own server, which may depend on its task and its folder. */
  readonly server?: McpServerOf<Task, Options>;
  /** Several servers by name, in place of `server`. Their tools are offered together. */
  readonly servers?: Readonly<Record<string, McpServerOf<Task, Options>>>;
  /**
   * Brings a server back to its first state after an episode, by calls of its own tools, and by emptying its folder if it bears that:
   * `({ call }) => call('reset')`. The server then serves the next episode, and no process starts. It ends if this throws or takes longer than
   * `connectTimeout`. A function as `server`
   * is then called for each process: the server has its own folder, which episodes receive one after the other, and must not depend on the task.
   * Default: each episode starts its servers.
   */
  readonly reset?: EnvReset;
  /** Whether the tools of `servers` are named `<server>_<tool>`. Default false: two tools of one name are an error. */
  readonly prefix?: boolean;
  /**
   * Whether the policy begins with one tool, `find_tools`, and gets those that it finds: for servers whose tools fill a context. The environment
   * itself may call all of them. Default false.
   */
  readonly toolSearch?: boolean | ToolSearchOptions;
  /** Names of the tools that the policy gets. The environment itself may call all of them. Default: all. */
  readonly only?: readonly string[];
  /** What the servers offer as tools in addition to their tools: `resources`, `prompts`. Two servers need `prefix`. Default: none. */
  readonly offer?: readonly McpPrimitive[];
  /** Milliseconds, as in `connectMcp`. Options of the run replace them. */
  readonly connectTimeout?: number;
  readonly callTimeout?: number;
  readonly closeGrace?: number;
  /** Whether to begin with `initialize`, as in `connectMcp`: some servers ask the `hooks` only then. An option of the run replaces it. */
  readonly initialize?: boolean;
  /** Answer what the servers ask their client: by script, or by a policy with `policyHooks`. Default: servers cannot ask. */
  readonly hooks?: McpHooks;
  /** The system message, an open text. Default: none. */
  readonly system?: string;
  /** Whether the system message ends with the servers' own instructions, if they have any. Default false. */
  readonly instructions?: boolean;
  /**
   * Rewards, in place of `correct`: 1 for an answer equal to the task's, ignoring case and white space, after the task's `calls`.
   * Functions may call the servers' tools: `call('read_graph')`.
   */
  readonly rewards?: {
    readonly [Reward in Name]: RewardDeclaration<EpisodeContext<Task, McpEpisodeState, unknown, Options>>;
  };
  /**
   * Begins an episode: may fill the servers with `call`, or the folder, before the policy sees anything. Default messages: the
   * task's `prompt`. Default tools: those of the servers. Default end: the first answer.
   */
  readonly episode?: (
    context: McpEpisodeContext<Task, Options>,
  ) => OnlyParts<Begun> | undefined | Promise<OnlyParts<Begun> | undefined>;
  /** Wins the task because it knows the answer. Default, without `rewards` and `episode`: makes the task's calls and gives its answer. */
  oracle?(task: NoInfer<Task>): readonly Scripted[] | Script | undefined;
  label?(task: NoInfer<Task>): string | undefined;
}

/** The definition's options and those of the pool. Without a server that can be shared, there is no `lifetime`. */
export function withPoolOptions(
  env: string,
  servers: Readonly<Record<string, McpServerOf<never, never>>>,
  own?: McpOptionsSchema,
): JsonSchema {
  const { lifetime, ...others } = { ...serverOptionsSchema.properties, ...poolProperties };
  const canShare = Object.values(servers).some((server) => typeof server !== 'function');
  const properties: Record<string, JsonSchema> = canShare ? { ...others, lifetime } : others;
  const taken = Object.keys(properties).find((name) => Object.hasOwn(own?.properties ?? {}, name));
  if (taken === undefined) return { ...own, properties: { ...own?.properties, ...properties } };
  const message = `${env}: option "${taken}" is an option of every MCP environment already: rename yours.`;
  throw new ToolEnvError('bug.environment', message);
}
