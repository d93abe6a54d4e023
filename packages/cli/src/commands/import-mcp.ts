/** Loads `@toolenv/mcp` only for the commands that need it, so that other commands run without it. */
import type { JsonSchema } from '@toolenv/core';
import { serveProperties } from '@toolenv/core/serving';
import { importOptional, isMissing } from './import-optional.ts';

const name = '@toolenv/mcp';

/**
 * @param need What needs the package, as the start of a sentence.
 * @throws ToolEnvError `usage.missing_package` if the package is not installed.
 */
export function importMcp(need: string): Promise<typeof import('@toolenv/mcp')> {
  return importOptional(name, need, () => import('@toolenv/mcp'));
}

/** The schema of the options with which an environment is served over HTTP; without the package, those of every protocol. */
export async function httpSchema(): Promise<JsonSchema> {
  try {
    return (await import('@toolenv/mcp/http-options')).httpOptionsSchema;
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    return { type: 'object', properties: serveProperties };
  }
}
