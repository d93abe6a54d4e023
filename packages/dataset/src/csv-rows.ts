/** csvRows: the rows of a file of comma-separated values (RFC 4180). */
import { Readable } from 'node:stream';
import { excerpt, ToolEnvError } from '@toolenv/core';
import { CsvError, type Info, parse } from 'csv-parse';
import { fileBytes } from './file-bytes.ts';
import { refuseUtf16 } from './json-objects.ts';
import { readFailure } from './read-failure.ts';
import type { Row } from './row.ts';

/** Characters. A quote that nobody closes would collect the rest of the file. */
const maxRowLength = 64 * 2 ** 20;

/**
 * The first line names the columns. All values are texts. Empty lines are left out.
 * @throws ToolEnvError `usage.broken_file` for a row with more or fewer values than columns, a quote that does not close, columns without
 *   a name of their own, or a file that is not UTF-8; and as `fileBytes` does.
 */
export async function* csvRows(path: string, delimiter: string): AsyncGenerator<Row> {
  let line = 1;
  const parser = parse({
    delimiter,
    columns: (header: string[]) => namesOf(header, path),
    info: true,
    skip_empty_lines: true,
    max_record_size: maxRowLength,
  });
  const text = Readable.from(decoded(path));
  text.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record, info } of text.pipe(parser) as AsyncIterable<{ record: object; info: Info }>) {
      line = info.lines;
      yield { value: record, isOfTexts: true, place: `${path}, line ${line}` };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw readFailure(path, `after line ${line}`, error);
    const at = (error as unknown as Info).lines;
    const message = `${path}, line ${at} is not CSV (${error.message}): correct it or download the file again.`;
    throw new ToolEnvError('usage.broken_file', message, { cause: error });
  } finally {
    text.destroy();
  }
}

/** The text without a byte order mark. */
async function* decoded(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isFirst = true;
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
    } catch (error) {
      const remedy = 'convert it (iconv -f <encoding> -t UTF-8)';
      throw new ToolEnvError('usage.broken_file', `${path} is not UTF-8: ${remedy}.`, { cause: error });
    }
  };
  for await (const chunk of fileBytes(path)) {
    if (isFirst) refuseUtf16(chunk, path);
    isFirst = false;
    yield decode(chunk);
  }
  yield decode();
}

function namesOf(header: string[], path: string): string[] {
  const names = new Set<string>();
  const wrong = header.findIndex((name) => name === '' || names.size === names.add(name).size);
  if (wrong < 0) return header;
  const problem = header[wrong] === '' ? 'has no name' : `is named "${excerpt(header[wrong]!)}" too`;
  const message = `${path}, line 1: column ${wrong + 1} ${problem}: give each column a name of its own.`;
  throw new ToolEnvError('usage.broken_file', message);
}
