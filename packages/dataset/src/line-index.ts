/** openLines: the lines of a file by their number. Memory holds where each of them begins. */
import { type FileHandle, open } from 'node:fs/promises';
import { ToolEnvError } from '@toolenv/core';
import { decode, maxObjectLength, refuseUtf16 } from './json-objects.ts';
import { parseRow } from './json-rows.ts';
import { readFailure } from './read-failure.ts';
import type { Row } from './row.ts';

const newline = 10;
const whiteSpace = Buffer.from(' \t\r');
/** Bytes that are read at a time. */
const chunkSize = 2 ** 20;

export interface Lines {
  /** Lines that are not blank. */
  readonly length: number;
  read(index: number): Promise<Row>;
}

/**
 * Reads the whole file once, to find its lines.
 * @throws ToolEnvError `usage.missing_file`; `usage.broken_file` for a line beyond 64 MiB, or if the file is UTF-16. Reading a line:
 *   `usage.broken_file` if it is not an object, not UTF-8, or the file has changed.
 */
export async function openLines(path: string): Promise<Lines> {
  const { size, time, starts, blanks } = await withFile(path, async (file) => ({
    ...(await stampOf(file)),
    ...(await findLines(file, path)),
  }));
  return {
    length: starts.length,
    read: (index) =>
      withFile(path, async (file) => {
        const start = starts[index]!;
        const bytes = Buffer.alloc((starts[index + 1] ?? size) - start);
        const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
        const now = await stampOf(file);
        if (now.size !== size || now.time !== time || bytesRead < bytes.length) throw changed(path);
        const before = blanks.findLastIndex((next) => next <= index) + 1;
        const place = `${path}, line ${index + before + 1}`;
        return { value: parseRow(decode([bytes], place), place), place };
      }),
  };
}

async function withFile<Result>(path: string, use: (file: FileHandle) => Promise<Result>): Promise<Result> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    return await use(file);
  } catch (error) {
    throw readFailure(path, 'where it was read', error);
  } finally {
    await file?.close();
  }
}

async function stampOf(file: FileHandle): Promise<{ size: number; time: number }> {
  const { size, mtimeMs: time } = await file.stat();
  return { size, time };
}

/** Where each line begins that is not blank, and for each blank line the number of the row that comes after it. */
async function findLines(file: FileHandle, path: string): Promise<{ starts: number[]; blanks: number[] }> {
  const starts: number[] = [];
  const blanks: number[] = [];
  const chunk = Buffer.alloc(chunkSize);
  let [offset, lineStart, isBlank] = [0, 0, true];
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunkSize, offset);
    if (offset === 0) refuseUtf16(chunk.subarray(0, bytesRead), path);
    for (let at = offset === 0 ? skippedMark(chunk) : 0; at < bytesRead; ) {
      const found = chunk.subarray(0, bytesRead).indexOf(newline, at);
      const end = found < 0 ? bytesRead : found;
      while (isBlank && at < end && whiteSpace.includes(chunk[at]!)) at++;
      if (isBlank && at < end) {
        starts.push(offset + at);
        isBlank = false;
      }
      if (offset + end - lineStart > maxObjectLength) {
        const message = `${path}, line ${starts.length + blanks.length + Number(isBlank)} does not end within 64 MiB: give a file of JSON lines.`;
        throw new ToolEnvError('usage.broken_file', message);
      }
      at = end;
      if (found < 0) break;
      if (isBlank) blanks.push(starts.length);
      [at, lineStart, isBlank] = [found + 1, offset + found + 1, true];
    }
    offset += bytesRead;
    if (bytesRead === 0) return { starts, blanks };
  }
}

/** Bytes of a byte order mark. */
function skippedMark([first, second, third]: Uint8Array): number {
  return first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0;
}

function changed(path: string): ToolEnvError {
  const remedy = 'leave it as it is while it is used, and start again';
  return new ToolEnvError('usage.broken_file', `${path} has changed since it was opened: ${remedy}.`);
}
