/** Loads `@toolenv/mcp` only for the commands that need it, so that other commands run without it. */
import { ToolEnvError } from '@toolenv/core';

const name = '@toolenv/mcp';

/**
 * @param need What needs the package, as the start of a sentence.
 * @throws ToolEnvError `usage.missing_package` if the package is not installed.
 */
export async function importMcp(need: string): Promise<typeof import('@toolenv/mcp')> {
  try {
    return await import('@toolenv/mcp');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw error;
    throw new ToolEnvError('usage.missing_package', `${need} needs ${name}: npm install ${name}`, {
      cause: error,
    });
  }
}
