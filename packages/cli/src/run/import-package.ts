/** Packages that a command needs and the CLI does not depend on: loaded by name, so that the others run without them. */
import { ToolEnvError } from '@toolenv/core';

/**
 * @param need What needs it, as the start of a sentence.
 * @throws ToolEnvError `usage.missing_package` if it is not installed.
 */
export async function importPackage<Package>(name: string, need: string): Promise<Package> {
  try {
    return (await import(name)) as Package;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw error;
    throw new ToolEnvError('usage.missing_package', `${need} needs ${name}: npm install ${name}`, {
      cause: error,
    });
  }
}
