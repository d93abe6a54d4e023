/** Errors of files that cannot be read, each in one line that names the file and a remedy. */
import { stat } from 'node:fs/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';

/**
 * Refuses what is no file: reading a pipe or a device may never end.
 * @param path Names the file in errors.
 * @throws ToolEnvError `usage.missing_file`.
 */
export async function requireFile(file: string, path: string = file): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    throw readFailure(path, 'before its first row', error);
  });
  if (found.isFile()) return;
  const what = found.isDirectory() ? 'a folder' : 'a pipe or a device';
  const remedy = found.isDirectory() ? 'give the path of a file in it' : 'copy it into a file first';
  throw new ToolEnvError('usage.missing_file', `${path} is ${what}, not a file: ${remedy}.`);
}

/** The error of the system, of zlib, of an archive or of a format in one line; a ToolEnvError as it is. */
export function readFailure(path: string, where: string, error: unknown): ToolEnvError {
  if (ToolEnvError.isInstance(error)) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  const why = messageOf(error).replaceAll('\n', ' ');
  const message = /^E[A-Z]+$/.test(code)
    ? `Cannot read ${path} (${why}): give the path of a file that exists.`
    : `${path} is damaged or not whole ${where} (${why}): download it again.`;
  const kind = /^E[A-Z]+$/.test(code) ? 'usage.missing_file' : 'usage.broken_file';
  return new ToolEnvError(kind, message, { cause: error });
}
