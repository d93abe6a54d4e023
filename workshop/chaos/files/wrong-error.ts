/** What is wrong with an error that a user sees for a damaged file. */
import { ToolEnvError } from '@toolenv/core';

/** Characters of a message. */
const longest = 2_000;

/** `undefined` for an error of one line that names what is wrong with the file. */
export function wrongError(error: unknown): string | undefined {
  if (!ToolEnvError.isInstance(error))
    return error instanceof Error ? `${error.name}: ${error.message}` : 'threw no Error';
  const { code, message } = error;
  if (code.startsWith('bug.')) return `is reported as a bug of the program: ${code} ${message}`;
  if (message.includes('\n')) return `is reported in several lines: ${JSON.stringify(message)}`;
  return message.length > longest ? `is reported in ${message.length} characters: ${code}` : undefined;
}
