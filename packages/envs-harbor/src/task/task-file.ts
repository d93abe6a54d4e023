/** Reads task.toml: TOML that follows the schema. */
import { readFile } from 'node:fs/promises';
import { messageOf } from '@toolenv/core';
import { type OptionsOf, pointerKeys, resolvePointer, validate } from '@toolenv/core/schemas';
import { parse } from 'smol-toml';
import { taskMistake } from './task-mistake.ts';
import { taskSchema } from './task-schema.ts';

export type TaskFile = OptionsOf<typeof taskSchema>;
export type EnvironmentTable = NonNullable<TaskFile['environment']>;
export type VerifierTable = NonNullable<TaskFile['verifier']>;
export type StepTable = NonNullable<TaskFile['steps']>[number];

/** Bytes. Harbor's own are a few kilobytes. */
const longest = 2 ** 20;

/** @throws ToolEnvError `usage.harbor_task` that names the file and the key. */
export async function readTaskFile(file: string): Promise<TaskFile> {
  let table: Record<string, unknown>;
  try {
    const text = await readFile(file, 'utf8');
    if (text.length > longest) throw new Error(`it has more than ${longest} characters`);
    table = parse(text);
  } catch (error) {
    throw taskMistake(file, '', `it cannot be read: ${messageOf(error).trim()}`, error);
  }
  const [mistake] = validate(taskSchema, table);
  if (!mistake) return table as TaskFile;
  const { path, expected, received, nearest } = mistake;
  const isUnknown = expected.includes('additional properties') && resolvePointer(table, path) !== undefined;
  const problem = isUnknown
    ? `no such key is known${nearest ? `: did you mean ${nearest}?` : ': leave it out'}`
    : `expected ${expected.replace(/^must /, 'it must ')}; received ${received}`;
  throw taskMistake(file, keyOf(path), problem.replace(/[.?]$/, ''));
}

/** `/steps/0/name` → `steps[0].name`. */
function keyOf(path: string): string {
  return pointerKeys(path)
    .map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`))
    .join('')
    .slice(1);
}
