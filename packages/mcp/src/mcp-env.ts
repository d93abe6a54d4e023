/** defineMcpEnv: an environment made of an MCP server and tasks. The model uses the server's tools, then answers. */
import { fileURLToPath } from 'node:url';
import {
  defineToolEnv,
  type EnvDefinition,
  type EnvLimits,
  type JsonSchema,
  type Message,
  messageOf,
  type Split,
  ToolEnvError,
} from '@toolenv/core';
import { readJsonLines } from '@toolenv/core/recording';
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
export function defineMcpEnv(
  definition: McpEnvDefinition,
): EnvDefinition<McpTask, McpEnvOptions & EnvLimits> {
  const { name, server, only, system, description = `${name}: tasks for an MCP server` } = definition;
  return defineToolEnv({
    name,
    description,
    options,
    limits: { maxTurns: 8, ...definition.limits },
    capabilities: { networked: 'url' in server },
    async setup({ options: { servers, lifetime }, tap }) {
      const tasks = await readTasks(definition.tasks);
      const openPool = () => openMcpPool(server, { size: servers, lifetime, only });
      return { tasks, pool: tap ? await tap.source(openPool) : await openPool() };
    },
    teardown: ({ pool }) => pool.close(),
    tasks: ({ shared: { tasks } }) => ({
      train: ofSplit(tasks, 'train'),
      validation: ofSplit(tasks, 'validation'),
      test: ofSplit(tasks, 'test'),
    }),
    rewards: { correct: { kind: 'outcome' } },
    async episode({ task: { prompt, answer }, shared: { pool }, signal }) {
      const lease = await pool.acquire({ signal });
      const messages: Message[] = [{ role: 'user', content: prompt }];
      if (system !== undefined) messages.unshift({ role: 'system', content: system });
      return {
        messages,
        tools: () => lease.tools,
        onAnswer(text) {
          const right = [answer ?? []].flat().some((each) => normalise(each) === normalise(text));
          return { rewards: { correct: answer === undefined ? null : Number(right) }, end: 'answered' };
        },
        close: () => lease.release(),
      };
    },
    oracle: ({ answer }) => (answer === undefined ? undefined : [answer].flat().slice(0, 1)),
  });
}

function normalise(text: string): string {
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
}

function ofSplit(tasks: readonly McpTask[], split: Split): McpTask[] {
  return tasks.filter((task) => (task.split ?? 'test') === split);
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
