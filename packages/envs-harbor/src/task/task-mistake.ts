/** The error of a task folder that cannot be played. */
import { ToolEnvError } from '@toolenv/core';

/**
 * @param file Absolute path.
 * @param key Of task.toml, such as `environment.gpus`; empty for the whole file.
 * @param problem What is wrong, and the remedy.
 */
export function taskMistake(file: string, key: string, problem: string, cause?: unknown): ToolEnvError {
  const where = key === '' ? file : `${file}: ${key}`;
  return new ToolEnvError('usage.harbor_task', `${where}: ${problem}.`, { cause });
}
