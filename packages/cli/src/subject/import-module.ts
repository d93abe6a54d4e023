/** importModule: imports a file of the user, which may be TypeScript on any version of Node. */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ToolEnvError } from '@toolenv/core';
import { asClause, isBug, messageOf, placeOf } from '@toolenv/core/errors';
import { importRemedy } from '@toolenv/core/plugins';

/**
 * @param file Absolute path.
 * @throws ToolEnvError `usage.module` if it cannot be loaded; `usage.not_a_plugin` for a file of another kind; `usage.typescript` if the file is TypeScript, Node does not read TypeScript, and tsx is not installed where the file finds it.
 */
export async function importModule(file: string): Promise<Record<string, unknown>> {
  const loaded = await load(file).catch((error: unknown) => {
    throw ToolEnvError.isInstance(error) && !isBug(error) ? error : loadError(file, error);
  });
  // tsx turns a file into CommonJS if its package does not set "type": "module".
  const { default: exported } = loaded;
  return Object(exported).__esModule === true ? (exported as Record<string, unknown>) : loaded;
}

async function load(file: string): Promise<Record<string, unknown>> {
  const { href } = pathToFileURL(file);
  try {
    return await import(href);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw error;
    if (!/\.[cm]?[jt]sx?$/.test(file)) {
      const message = `${file} is no module: give a JavaScript or TypeScript file.`;
      throw new ToolEnvError('usage.not_a_plugin', message, { cause: error });
    }
    if (!/\.[cm]?ts$/.test(file)) throw error;
    await useTsx(file, error);
    // Node remembers that the import of this address failed.
    return await import(`${href}?tsx`);
  }
}

async function useTsx(file: string, cause: unknown): Promise<void> {
  let tsx: string;
  try {
    tsx = createRequire(file).resolve('tsx');
  } catch {
    const message = `Node ${process.versions.node} does not read TypeScript, so ${file} was not loaded. Use Node 22.18 or later, or let toolenv read it with tsx: npm install --save-dev tsx`;
    throw new ToolEnvError('usage.typescript', message, { cause });
  }
  // The entry that `node --import tsx` loads. It registers tsx's hooks.
  await import(pathToFileURL(tsx).href);
}

/** A module that is wrong is its author's, so its place says more than the stack. */
function loadError(file: string, error: unknown): ToolEnvError {
  const { name, code } = Object(error) as NodeJS.ErrnoException;
  const kind = isBug(error) || code !== undefined || name === undefined ? '' : `${name}: `;
  // A question asks for no full stop.
  const remedy = importRemedy(error) ?? '';
  const problem = `${kind}${asClause(messageOf(error)).replace(/[^?]$/, '$&.')} ${remedy}`.trimEnd();
  return new ToolEnvError('usage.module', `${placeOf(error) ?? file} cannot be loaded: ${problem}`, {
    cause: error,
  });
}

/**
 * The default export of a user's module, where a flag takes a function.
 * @throws ToolEnvError `usage.bad_flag` for a file that is missing or exports no function, and as {@link importModule} does.
 */
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
