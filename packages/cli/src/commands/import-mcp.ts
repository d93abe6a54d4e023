/** Loads `@toolenv/mcp` only for the commands that need it, so that other commands run without it. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';

const name = '@toolenv/mcp';

/**
 * @param need What needs the package, as the start of a sentence.
 * @throws ToolEnvError `usage.missing_package` if the package is not installed.
 */
export async function importMcp(need: string): Promise<typeof import('@toolenv/mcp')> {
  try {
    return await import('@toolenv/mcp');
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new ToolEnvError('usage.missing_package', `${need} needs ${name}: npm install ${name}`, {
      cause: error,
    });
  }
}

/** The schema of the options with which an environment is served over HTTP; without the package, it has no options. */
export async function httpSchema(): Promise<JsonSchema> {
  try {
    return (await import('@toolenv/mcp/http-options')).httpOptionsSchema;
  } catch (error) {
    if (!isMissing(error)) throw error;
    return { type: 'object', properties: {} };
  }
}

function isMissing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`);
}
