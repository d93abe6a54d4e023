/** spoolTasks: keeps the tasks of a stream in a temporary file, so that memory holds only where each of them begins. */
import { messageOf, ToolEnvError } from '../protocol/errors.ts';
import type { TaskSet } from './env-definition.ts';
import { Spool } from './spool.ts';

/**
 * Reads the stream to its end. Each task is read from the file, as JSON, when it is asked for.
 * @throws What the stream throws; ToolEnvError `bug.environment` for a task that is not a JSON value, `infrastructure.disk` for a folder
 *   without space.
 */
export async function spoolTasks<Task>(stream: AsyncIterable<Task>): Promise<TaskSet<Task>> {
  const spool = new Spool('The tasks of a stream');
  for await (const task of stream) spool.add(jsonOf(task, spool.length));
  return {
    length: spool.length,
    get: async (index) => JSON.parse((await spool.read(index)).toString()),
  };
}

function jsonOf(task: unknown, index: number): string {
  let problem = `it is ${typeof task}`;
  try {
    const json = JSON.stringify(task);
    if (json !== undefined) return json;
  } catch (error) {
    problem = messageOf(error);
  }
  const message = `Task ${index} of a stream is not a JSON value (${problem}): yield objects, arrays, strings and numbers.`;
  throw new ToolEnvError('bug.environment', message);
}
