/** Loads `@toolenv/openenv` only for the commands that need it, so that other commands run without it. */
import { importOptional } from './import-optional.ts';

/**
 * @param need What needs the package, as the start of a sentence.
 * @throws ToolEnvError `usage.missing_package` if the package is not installed.
 */
export function importOpenEnv(need: string): Promise<typeof import('@toolenv/openenv')> {
  return importOptional('@toolenv/openenv', need, () => import('@toolenv/openenv'));
}
