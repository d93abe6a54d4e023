/** importOptional: loads a package that only some commands need, or says that it must be installed. */
import { ToolEnvError } from '@toolenv/core';

/**
 * @param need What needs the package, as the start of a sentence.
 * @throws ToolEnvError `usage.missing_package` if the package is not installed.
 */
export async function importOptional<Module>(
  name: string,
  need: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    const message = `${need} needs ${name}: npm install ${name}`;
    throw new ToolEnvError('usage.missing_package', message, { cause: error });
  }
}

/** Whether the package, or its file, cannot be found. */
export function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`);
}
