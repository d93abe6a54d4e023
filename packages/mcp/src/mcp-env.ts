/** defineMcpEnv: an environment made of an MCP server and tasks. The model uses the server's tools, then answers. */
import { fileURLToPath } from 'node:url';
import {
  defineEnv,
  type EnvDefinition,
  type EnvLimits,
  type EnvSpec,
  type InitialContext,
  type InitialState,
  type JsonSchema,
  type Message,
  messageOf,
  outcomeReward,
  type RewardSpec,
  type Split,
  type TaskSet,
  type Tool,
  ToolEnv,
  ToolEnvError,
  type TurnResult,
  terminated,
} from '@toolenv/core';
import { readJsonLines, type ToolLease, type ToolSource } from '@toolenv/core/recording';
import { type OptionsOf, validate } from '@toolenv/core/schemas';
import { openMcpPool } from './mcp-pool.ts';
import type { McpEndpoint } from './mcp-server.ts';

/** One line of a task file. */
export interface McpTask {
  /** The user's message. */
  prompt: string;
  /** The right answer, or several that are accepted. Without an answer, the episode is not scored. */
  answer?: string | string[];
  /** Default `test`. */
  split?: Split;
}

export interface McpEnvDefinition {
  /** `<name>-v<N>`. */
  name: string;
  description?: string;
  server: McpEndpoint;
  /** A JSONL file with an {@link McpTask} in each line, or the tasks themselves. */
  tasks: string | URL | readonly McpTask[];
  /** Names of the server's tools that are offered. Default: all. */
  only?: readonly string[];
  /** The system message. Default: none. */
  system?: string;
  limits?: Partial<EnvLimits>;
}

const options = {
  type: 'object',
  properties: {
    servers: { type: 'integer', minimum: 1, default: 8, description: 'largest number of server processes' },
    lifetime: {
      enum: ['episode', 'shared'],
      default: 'episode',
      description: 'episode: each episode has its own server; shared: episodes share servers',
    },
  },
} as const;

/** Options of a run. */
export type McpEnvOptions = OptionsOf<typeof options>;

const rewards: RewardSpec = { correct: outcomeReward([0, 1], 1) };

const defaults: EnvLimits = {
  maxTurns: 8,
  maxCallsPerTurn: 8,
  toolTimeout: 60_000,
  maxToolCharacters: 16_384,
};

const taskSchema: JsonSchema = {
  type: 'object',
  properties: {
    prompt: { type: 'string', minLength: 1 },
    answer: { type: ['string', 'array'], items: { type: 'string' } },
    split: { enum: ['train', 'validation', 'test'] },
  },
  required: ['prompt'],
  additionalProperties: false,
};

/**
 * Defines the environment. Its reward `correct` is 1 for an answer equal to the task's, ignoring case and white space. For
 * other rewards, write a ToolEnv that uses an `McpLease`.
 * @throws ToolEnvError `usage.mcp_tasks`, when it is opened, for an unreadable file or a malformed line.
 */
export function defineMcpEnv(definition: McpEnvDefinition): EnvDefinition<McpTask, McpEnvOptions> {
  const { name, server, only, system, description = `${name}: tasks for an MCP server` } = definition;
  const limits = { ...defaults, ...definition.limits };
  const spec: EnvSpec = { specVersion: 'v1', name, rewards, limits };
  return defineEnv({
    name,
    description,
    options,
    rewards,
    limits,
    capabilities: { networked: 'url' in server },
    roles: {},
    async open({ options: { servers, lifetime }, tap }) {
      const tasks = await readTasks(definition.tasks);
      const openPool = () => openMcpPool(server, { size: servers, lifetime, only });
      const pool = tap ? await tap.source(openPool) : await openPool();
      return {
        tasks: {
          train: ofSplit(tasks, 'train'),
          validation: ofSplit(tasks, 'validation'),
          test: ofSplit(tasks, 'test'),
        },
        episode: () => new McpEnv(spec, pool, system),
        close: () => pool.close(),
      };
    },
  });
}

interface State {
  task: McpTask;
  lease: ToolLease;
}

class McpEnv extends ToolEnv<McpTask, State> {
  readonly spec: EnvSpec;
  readonly #pool: ToolSource;
  readonly #system: string | undefined;
  /** A promise, so that closing during a reset releases the lease too. */
  #lease: Promise<ToolLease> | undefined;

  constructor(spec: EnvSpec, pool: ToolSource, system: string | undefined) {
    super();
    this.spec = spec;
    this.#pool = pool;
    this.#system = system;
  }

  protected async initial(task: McpTask, { signal }: InitialContext): Promise<InitialState<State>> {
    await this.#release();
    this.#lease = this.#pool.acquire({ signal });
    const messages: Message[] = [{ role: 'user', content: task.prompt }];
    if (this.#system !== undefined) messages.unshift({ role: 'system', content: this.#system });
    return { state: { task, lease: await this.#lease }, messages };
  }

  protected tools({ lease }: State): Tool[] {
    return [...lease.tools];
  }

  protected onAnswer({ task: { answer } }: State, text: string): TurnResult {
    const right = [answer ?? []].flat().some((each) => normalise(each) === normalise(text));
    const correct = answer === undefined ? null : Number(right);
    return { rewards: { correct }, outcome: terminated('answered') };
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#release();
  }

  async #release(): Promise<void> {
    const held = this.#lease;
    this.#lease = undefined;
    // A lease that could not be acquired need not be released.
    const lease = await held?.catch(() => undefined);
    await lease?.release();
  }
}

function normalise(text: string): string {
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
}

function ofSplit(tasks: readonly McpTask[], split: Split): TaskSet<McpTask> {
  const chosen = tasks.filter((task) => (task.split ?? 'test') === split);
  return { length: chosen.length, get: (index) => chosen[index]! };
}

async function readTasks(tasks: McpEnvDefinition['tasks']): Promise<readonly McpTask[]> {
  if (typeof tasks !== 'string' && !(tasks instanceof URL)) return tasks;
  const file = tasks instanceof URL ? fileURLToPath(tasks) : tasks;
  const read: McpTask[] = [];
  try {
    for await (const { text, place } of readJsonLines(file)) read.push(readTask(text, place));
    return read;
  } catch (error) {
    if (ToolEnvError.isInstance(error) || !(error as NodeJS.ErrnoException).code) throw error;
    const message = `The task file ${file} cannot be read: ${messageOf(error)}: name a JSONL file.`;
    throw new ToolEnvError('usage.mcp_tasks', message, { cause: error });
  }
}

function readTask(line: string, where: string): McpTask {
  let task: unknown;
  try {
    task = JSON.parse(line);
  } catch (error) {
    const message = `${where}: ${messageOf(error)}: write one JSON object per line.`;
    throw new ToolEnvError('usage.mcp_tasks', message, { cause: error });
  }
  const [wrong] = validate(taskSchema, task);
  if (!wrong) return task as McpTask;
  const message = `${where}${wrong.path}: expected ${wrong.expected}; received ${wrong.received}.`;
  throw new ToolEnvError('usage.mcp_tasks', message);
}
