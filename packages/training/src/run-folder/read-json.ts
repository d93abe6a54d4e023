/** Reads a JSON file that may be absent or damaged. */
import { messageOf, ToolEnvError } from '@toolenv/core';
import { readRegular } from '@toolenv/core/files';

/**
 * @param check Throws what is wrong with the content.
 * @returns `undefined` if there is no such file.
 * @throws ToolEnvError `code` for a damaged file, naming the remedy.
 */
export async function readJson<Content>(
  file: string,
  { check, code, remedy }: { check(content: unknown): Content; code: `usage.${string}`; remedy: string },
): Promise<Content | undefined> {
  try {
    return check(JSON.parse(await readRegular(file)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ToolEnvError(code, `${file} is damaged (${messageOf(error)}): ${remedy}.`, { cause: error });
  }
}
