/** Loads `@toolenv/tools-search` only for the commands that need it, so that other commands run without it. */
import type { JsonSchema } from '@toolenv/core';
import { importOptional, isMissing } from './import-optional.ts';

const name = '@toolenv/tools-search';

/**
 * @param need What needs the package, as the start of a sentence.
 * @throws ToolEnvError `usage.missing_package` if the package is not installed.
 */
export function importSearch(need: string): Promise<typeof import('@toolenv/tools-search')> {
  return importOptional(name, need, () => import('@toolenv/tools-search'));
}

/** The schema of the options of an index; without the package, none. */
export async function indexSchema(): Promise<JsonSchema> {
  try {
    return (await import('@toolenv/tools-search/options')).indexOptionsSchema;
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    return {};
  }
}
