/** Tasks of an MCP environment: a JSONL file, an array whose tasks name their splits, or the tasks of each split. */
import { fileURLToPath } from 'node:url';
import {
  type JsonSchema,
  messageOf,
  type Split,
  type TaskSet,
  type TaskSources,
  ToolEnvError,
  taskSets,
} from '@toolenv/core';
import { readJsonLines } from '@toolenv/core/files';
import { jsonWithDigits, validate, withoutFilledNulls } from '@toolenv/core/schemas';

/** A task of an environment with the default episode and reward, for example a line of a task file. */
export interface McpTask {
  /** The user's message. */
  prompt: string;
  /** The right answer, or several that are accepted. Without an answer, the episode is not scored. */
  answer?: string | string[];
  /** Calls that the policy has to make, in any order: the arguments of each by its tool. A call may have further arguments. */
  calls?: Record<string, Record<string, unknown>>;
  /** Default `test`. */
  split?: Split;
}

/** A JSONL file with a task in each line, tasks that may name their `split`, or the tasks of each split. */
export type McpTasks<Task> = string | URL | readonly Task[] | TaskSources<Task>;

const split: JsonSchema = { enum: ['train', 'validation', 'test'] };

/** Schema of a line, for environments that use no other fields. */
export const mcpTaskSchema: JsonSchema = {
  type: 'object',
  properties: {
    prompt: { type: 'string', minLength: 1 },
    answer: { type: ['string', 'array'], items: { type: 'string' } },
    calls: { type: 'object', additionalProperties: { type: 'object' } },
    split,
  },
  required: ['prompt'],
  additionalProperties: false,
};

/** Schema of a line, for environments with tasks of their own. */
export const ownTaskSchema: JsonSchema = { type: 'object', properties: { split } };

/**
 * The tasks of each split.
 * @param schema Of the lines of a file.
 * @throws ToolEnvError `usage.mcp_tasks` for an unreadable file or a malformed line.
 */
export async function readTasks<Task>(
  tasks: McpTasks<Task>,
  schema: JsonSchema,
): Promise<Record<Split, TaskSet<Task>>> {
  if (typeof tasks === 'string') return bySplit(await readFile<Task>(tasks, schema));
  if (tasks instanceof URL) return bySplit(await readFile<Task>(fileURLToPath(tasks), schema));
  if (!isArray(tasks)) return taskSets(tasks);
  return bySplit(tasks.map((task, index) => checked(task, schema, `Task ${index + 1}: `) as Task));
}

/**
 * The first task of any split.
 * @throws ToolEnvError `usage.mcp_tasks` if there is none.
 */
export async function firstTask<Task>(sets: Record<Split, TaskSet<Task>>, env: string): Promise<Task> {
  for (const set of Object.values(sets)) if ((await set.length) > 0) return await set.get(0);
  throw new ToolEnvError('usage.mcp_tasks', `${env} has no tasks: give it at least one.`);
}

function isArray<Task>(tasks: readonly Task[] | TaskSources<Task>): tasks is readonly Task[] {
  return Array.isArray(tasks);
}

function bySplit<Task>(tasks: readonly Task[]): Record<Split, TaskSet<Task>> {
  const of = (name: Split) => {
    const found = tasks.filter((task) => ((task as { split?: Split } | null)?.split ?? 'test') === name);
    return found.length > 0 ? found : undefined;
  };
  return taskSets({ train: of('train'), validation: of('validation'), test: of('test') });
}

async function readFile<Task>(file: string, schema: JsonSchema): Promise<Task[]> {
  const read: Task[] = [];
  try {
    for await (const { text, place } of readJsonLines(file)) read.push(readTask(text, schema, place) as Task);
    return read;
  } catch (error) {
    if (ToolEnvError.isInstance(error) || !(error as NodeJS.ErrnoException).code) throw error;
    const message = `The task file ${file} cannot be read: ${messageOf(error)}: name a JSONL file.`;
    throw new ToolEnvError('usage.mcp_tasks', message, { cause: error });
  }
}

function readTask(line: string, schema: JsonSchema, where: string): unknown {
  let task: unknown;
  try {
    // A number would round a long integer, so it is the text of its digits, as in rows of datasets.
    task = jsonWithDigits(line);
  } catch (error) {
    const message = `${where}: ${messageOf(error)}: write one JSON object per line.`;
    throw new ToolEnvError('usage.mcp_tasks', message, { cause: error });
  }
  return checked(task, schema, where);
}

function checked(task: unknown, schema: JsonSchema, where: string): unknown {
  const own = withoutFilledNulls(schema, task);
  const [wrong] = validate(schema, own);
  if (!wrong) return own;
  const message = `${where}${wrong.path}: expected ${wrong.expected}; received ${wrong.received}.`;
  throw new ToolEnvError('usage.mcp_tasks', message);
}
