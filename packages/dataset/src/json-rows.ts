/** jsonObjects: the objects of a JSON array or of JSON lines, one at a time. */
import { messageOf, ToolEnvError } from '@toolenv/core';
import { jsonWithDigits } from '@toolenv/core/schemas';
import { fileBytes } from './file-bytes.ts';
import { objectsOf } from './json-objects.ts';
import { readFailure } from './read-failure.ts';
import type { Row } from './row.ts';

/**
 * A file's objects in its order. The file is a JSON array or has an object on each line; it may be packed by gzip, or be a member of a
 * zip archive: `archive.zip/member`.
 * @throws ToolEnvError `usage.missing_file`, `usage.broken_file` (not JSON, not UTF-8, not whole), `usage.zip_member`. Each names the
 *   file, the record and a remedy.
 */
export async function* jsonObjects(path: string): AsyncGenerator<Row> {
  let number = 0;
  try {
    for await (const json of objectsOf(fileBytes(path), path)) {
      number++;
      const place = `${path}, record ${number}`;
      yield { value: parseRow(json, place), place };
    }
  } catch (error) {
    const where = number === 0 ? 'before its first record ends' : `after record ${number}`;
    throw readFailure(path, where, error);
  }
}

/** @throws ToolEnvError `usage.broken_file` for anything but an object. */
export function parseRow(json: string, place: string): object {
  let problem = 'not an object';
  let cause: unknown;
  try {
    const value = jsonWithDigits(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    problem = `not JSON (${messageOf(error).replaceAll('\n', ' ')})`;
    cause = error;
  }
  const message = `${place} is ${problem}: correct it or download the file again.`;
  throw new ToolEnvError('usage.broken_file', message, { cause });
}
