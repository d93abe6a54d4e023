/** Reads files with one JSON value per line. A crash may have left the last line half-written. */
import { createReadStream } from 'node:fs';
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

/** The non-empty lines in the file's order, one at a time in memory. */
export async function* readJsonLines(
  file: string,
  options: ReadOptions = {},
): AsyncGenerator<JsonLine, void, void> {
  let number = 0;
  let open: string[] = [];
  // node:readline would also break lines at U+2028, which JSON may contain unescaped.
  for await (const chunk of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const [first, ...lines] = chunk.split('\n');
    open.push(first!);
    for (const next of lines) {
      const text = open.join('');
      open = [next];
      number += 1;
      if (text.trim() !== '') yield { text, place: `${file}:${number}` };
    }
  }
  const rest = open.join('');
  if (rest.trim() === '' || (options.skipHalfWritten && tryJson(rest) === undefined)) return;
  yield { text: rest, place: `${file}:${number + 1}` };
}
