/** readPassages: streams the passages of a corpus from a file, gzipped or not, line by line. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { isGzip } from '@toolenv/core/files';
import { jsonWithDigits } from '@toolenv/core/schemas';
import { formatFields, formatOfLine, type Passage, type PassageFormat, readLine } from './passage-formats.ts';

/** Bytes of a line. A file without line breaks is no corpus. */
const maxLineLength = 64 * 2 ** 20;

export interface PassageFile {
  path: string;
  /** Bytes. */
  size: number;
  format: PassageFormat;
}

/** @throws ToolEnvError `usage.passages` if there is no such file, or its first line is of no known format. */
export async function openPassages(path: string, given?: PassageFormat): Promise<PassageFile> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw badPassages(`${path} cannot be read: ${messageOf(error)}.`, error);
  });
  if (given) return { path, size, format: given };
  for await (const { text } of lines(path)) {
    const format = formatOfLine(parse(path, 1, text));
    if (format) return { path, size, format };
    const known = Object.entries(formatFields)
      .map(([name, fields]) => `${name}: ${fields}`)
      .join('; ');
    throw badPassages(`${path}, line 1, is of no known format. Give lines of ${known}.`);
  }
  throw badPassages(`${path} has no passages.`);
}

/**
 * The passages in the order of the file, in constant memory.
 * @throws ToolEnvError `usage.passages`, naming the line that is broken.
 */
export async function* readPassages(
  { path, format }: Pick<PassageFile, 'path' | 'format'>,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<Passage> {
  let number = 0;
  for await (const { text, bytes } of lines(path)) {
    onBytes?.(bytes);
    const passages = readLine(format, parse(path, number + 1, text), number);
    number += 1;
    if (!passages) {
      const needed = formatFields[format];
      throw badPassages(`${path}, line ${number}, is not of the format ${format}: it needs ${needed}.`);
    }
    yield* passages;
  }
}

function parse(path: string, number: number, text: string): unknown {
  try {
    return jsonWithDigits(text);
  } catch {
    throw badPassages(`${path}, line ${number}, is not JSON: repair or remove the line.`);
  }
}

/** The lines that are not empty, and how many bytes of the file were read. */
async function* lines(path: string): AsyncGenerator<{ text: string; bytes: number }> {
  const file = createReadStream(path, { highWaterMark: 2 ** 20 });
  const unzip = (await isGzip(path)) ? createGunzip() : undefined;
  // The loop below reports what fails: an error of the file ends the unzipped stream.
  if (unzip) pipeline(file, unzip).catch(() => {});
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 1;
  let rest = '';
  try {
    for await (const chunk of unzip ?? file) {
      const parts = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
      rest = parts.pop()!;
      if (rest.length > maxLineLength) throw new Error(`line ${number + parts.length} is longer than 64 MiB`);
      for (const text of parts) {
        if (text.trim() !== '') yield { text, bytes: file.bytesRead };
        number += 1;
      }
    }
    rest += decoder.decode();
  } catch (error) {
    const isEncoding = (error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA';
    const what = isEncoding ? `line ${number} or later is not UTF-8: convert the file` : messageOf(error);
    throw badPassages(`${path} cannot be read: ${what}.`, error);
  } finally {
    file.destroy();
    unzip?.destroy();
  }
  if (rest.trim() !== '') yield { text: rest, bytes: file.bytesRead };
}

function badPassages(message: string, cause?: unknown): ToolEnvError {
  return new ToolEnvError('usage.passages', message, { cause });
}
