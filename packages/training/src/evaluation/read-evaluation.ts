/** readEvaluation: an earlier evaluation, from the file that it left. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { readRegular } from '@toolenv/core/files';
import { isObject } from '@toolenv/core/schemas';
import type { Scored } from './compare-evaluations.ts';

const remedy =
  'give a file that "toolenv eval --json" printed, or summary.json of the folder that an evaluation wrote';

/**
 * @param path A file that `toolenv eval --json` printed, or the folder of an evaluation.
 * @throws ToolEnvError `usage.not_an_evaluation` for anything else, and for a file above 128 MiB.
 */
export async function readEvaluation(path: string): Promise<Scored> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const file = isFolder ? join(path, 'summary.json') : path;
  const refuse = (why: string, cause?: unknown) =>
    new ToolEnvError('usage.not_an_evaluation', `${file} ${why}: ${remedy}.`, { cause });
  let value: unknown;
  try {
    value = JSON.parse(await readRegular(file, remedy));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw refuse('does not exist', error);
    if (error instanceof SyntaxError) throw refuse('is not JSON', error);
    if (ToolEnvError.isInstance(error))
      throw new ToolEnvError('usage.not_an_evaluation', error.message, { cause: error });
    throw refuse(`cannot be read (${messageOf(error)})`, error);
  }
  if (isObject(value) && Array.isArray(value.policies)) throw refuse('compares several policies');
  const wrong = mistakeOf(value);
  if (wrong === undefined) return value as unknown as Scored;
  throw refuse(`has no scores of tasks (${wrong})`);
}

/** The first thing that is wrong with the tasks. */
function mistakeOf(value: unknown): string | undefined {
  const tasks: unknown = Object(value).tasks;
  if (!Array.isArray(tasks) || tasks.length === 0) return '"tasks" must be a list that is not empty';
  const wrong = tasks.findIndex((task) => {
    const { index, digest, question, reward, scores } = Object(task);
    const isNamed = Number.isInteger(index) && typeof digest === 'string' && typeof question === 'string';
    return !isNamed || !areScores(reward) || !isObject(scores) || !Object.values(scores).every(areScores);
  });
  return wrong < 0
    ? undefined
    : `tasks[${wrong}] must have an index, a digest, a question, rewards and scores`;
}

function areScores(values: unknown): boolean {
  return Array.isArray(values) && values.every(Number.isFinite);
}
