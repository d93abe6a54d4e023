/** lanceError: what LanceDB throws, as an error that names the remedy. */
import { messageOf, ToolEnvError } from '@toolenv/core';

/** @param doing What failed, as the start of a sentence. */
export function lanceError(error: unknown, doing: string): ToolEnvError {
  if (ToolEnvError.isInstance(error)) return error;
  // LanceDB's messages end with a place in its source.
  const message = messageOf(error)
    .split('\n')[0]!
    .replace(/,? \/?[\w/.-]+\.rs:\d+.*$/, '');
  const isFull = /no space left|os error 28|quota exceeded|storage ?full/i.test(messageOf(error));
  if (isFull) {
    const remedy = 'Make room and repeat the command: it continues where it stopped.';
    const full = `${doing} fails: the disk is full. ${remedy}`;
    return new ToolEnvError('infrastructure.disk', full, { cause: error });
  }
  const isDamaged = /not found|file size is too small|invalid range|fill whole buffer/i.test(message);
  const remedy = isDamaged
    ? ' If a file of the index is missing or damaged, delete the index and build it again.'
    : '';
  return new ToolEnvError('infrastructure.search_index', `${doing} fails: ${message}.${remedy}`, {
    cause: error,
  });
}
