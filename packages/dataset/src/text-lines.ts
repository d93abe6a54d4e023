/** textLines: the lines of a file, one at a time. */
import { ToolEnvError } from '@toolenv/core';
import { tryJson } from '@toolenv/core/schemas';
import { fileBytes } from './file-bytes.ts';
import { decode, maxObjectLength, refuseUtf16 } from './json-objects.ts';
import { readFailure } from './read-failure.ts';

const newline = 10;

export interface TextLine {
  text: string;
  /** `data.jsonl, line 3`. */
  place: string;
  /** Whether it is the last line, has no line break and is not JSON, as a crash or a writer leaves it. */
  isHalfWritten: boolean;
}

/**
 * The lines that are not blank. The file may be packed by gzip, or be a member of an archive. Holds one line.
 * @param onBytes Called as bytes are read, after they are unpacked.
 * @throws ToolEnvError `usage.missing_file`, `usage.zip_member`; `usage.broken_file` for a line beyond 64 MiB, a file that is not UTF-8 or not whole.
 */
export async function* textLines(
  path: string,
  onBytes: (count: number) => void = () => {},
): AsyncGenerator<TextLine, void, void> {
  let [number, length, isFirst] = [1, 0, true];
  let parts: Uint8Array[] = [];
  const place = () => `${path}, line ${number}`;
  try {
    for await (const chunk of fileBytes(path)) {
      if (isFirst) refuseUtf16(chunk, path);
      isFirst = false;
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        const text = decode([...parts, chunk.subarray(start, end)], place());
        if (text.trim() !== '') yield { text, place: place(), isHalfWritten: false };
        [parts, length, start] = [[], 0, end + 1];
        number += 1;
      }
      parts.push(chunk.subarray(start));
      length += chunk.length - start;
      if (length > maxObjectLength) {
        const message = `${place()} does not end within 64 MiB: give a file of JSON lines.`;
        throw new ToolEnvError('usage.broken_file', message);
      }
      onBytes(chunk.length);
    }
  } catch (error) {
    throw readFailure(path, `at line ${number}`, error);
  }
  const text = Buffer.concat(parts).toString();
  if (text.trim() === '') return;
  // The writer may be in the middle of a character.
  const isHalfWritten = tryJson(text) === undefined;
  yield { text: isHalfWritten ? text : decode(parts, place()), place: place(), isHalfWritten };
}
