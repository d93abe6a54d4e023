/** Reads files with one JSON value per line. A crash may have left the last line half-written. */
import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { ToolEnvError } from '../protocol/errors.ts';
import { tryJson } from '../schemas/json-text.ts';

/** A line of a file. */
export interface JsonLine {
  text: string;
  /** `file:line`, for errors. */
  place: string;
}

/** How a file of records is read. */
export interface ReadOptions {
  /** Leave out a half-written last line, as a crash leaves it, instead of refusing: it has no line break and is not JSON. */
  skipHalfWritten?: boolean;
}

/** Characters of a line. */
const maxLineLength = 2 ** 28;

/**
 * The non-empty lines in the file's order, one at a time in memory.
 * @throws ToolEnvError `usage.broken_record` for a line of more than 2²⁸ characters, and for a file in UTF-16.
 */
export async function* readJsonLines(
  file: string,
  options: ReadOptions = {},
): AsyncGenerator<JsonLine, void, void> {
  let number = 0;
  let isBegin = true;
  let open: string[] = [];
  let length = 0;
  // node:readline would also break lines at U+2028, which JSON may contain unescaped.
  for await (const chunk of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    // PowerShell's > writes UTF-16, which begins so.
    if (isBegin && /^(?:\uFFFD\uFFFD|.\0|\0.)/s.test(chunk)) {
      const message = `${file} is UTF-16: save it as UTF-8.`;
      throw new ToolEnvError('usage.broken_record', message);
    }
    const [first, ...lines] = (isBegin ? chunk.replace(/^\uFEFF/, '') : chunk).split('\n');
    isBegin = false;
    open.push(first!);
    length += first!.length;
    if (length > maxLineLength) {
      const message = `${file}:${number + 1}: a line has more than ${maxLineLength} characters: it is no record.`;
      throw new ToolEnvError('usage.broken_record', message);
    }
    for (const next of lines) {
      const text = open.join('');
      open = [next];
      length = next.length;
      number += 1;
      if (text.trim() !== '') yield { text, place: `${file}:${number}` };
    }
  }
  const rest = open.join('');
  if (rest.trim() === '' || (options.skipHalfWritten && tryJson(rest) === undefined)) return;
  yield { text: rest, place: `${file}:${number + 1}` };
}

/** The number of bytes up to and including the last line break. */
export async function wholeLines(handle: FileHandle, size: number): Promise<number> {
  const block = Buffer.alloc(65_536);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - block.length);
    const { bytesRead } = await handle.read(block, 0, end - start, start);
    const at = block.subarray(0, bytesRead).lastIndexOf(10);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}
