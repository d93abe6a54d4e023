/** lanceError: what LanceDB throws, as an error that names the remedy. */
import { messageOf, ToolEnvError } from '@toolenv/core';

/** @param doing What failed, as the start of a sentence. */
export function lanceError(error: unknown, doing: string): ToolEnvError {
  if (ToolEnvError.isInstance(error)) return error;
  // LanceDB's messages go on with the place in its source.
  const message = messageOf(error)
    .split('\n')[0]!
    .replace(/,? \/?[\w/.-]+\.rs:\d+.*$/, '');
  const isFull = /no space left|os error 28|quota exceeded|storage ?full/i.test(messageOf(error));
  return isFull
    ? new ToolEnvError(
        'infrastructure.disk',
        `${doing} fails: the disk is full. Make room and repeat the command; it goes on where it stopped.`,
        { cause: error },
      )
    : new ToolEnvError('infrastructure.search_index', `${doing} fails: ${message}.`, { cause: error });
}
