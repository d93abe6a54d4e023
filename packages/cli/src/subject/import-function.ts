/** importFunction: the default export of a user's module, where a flag takes a function. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { importModule } from './import-module.ts';

/** @throws ToolEnvError `usage.bad_flag` for a file that is missing or exports no function, and as {@link importModule} does. */
export async function importFunction<Fn>(file: string, flag: string): Promise<Fn> {
  const path = resolve(file);
  if (!existsSync(path))
    throw new ToolEnvError(
      'usage.bad_flag',
      `${flag} ${file}: there is no such file. Give the path of a module.`,
    );
  const { default: made } = await importModule(path);
  if (typeof made === 'function') return made as Fn;
  throw new ToolEnvError('usage.bad_flag', `${flag} ${file}: its default export must be a function.`);
}
