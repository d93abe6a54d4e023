/** Reads files of one JSON value a line, of which a crash may have left the last one half-written. */
import { createReadStream } from 'node:fs';

export interface JsonLine {
  text: string;
  /** `file:line`, for errors. */
  place: string;
}

/**
 * The lines that are not empty, in the file's order, one in memory at a time.
 * @param options.skipHalfWritten Leave out a last line that has no line break and is no JSON.
 */
export async function* readJsonLines(
  file: string,
  options: { skipHalfWritten?: boolean } = {},
): AsyncGenerator<JsonLine, void, void> {
  let number = 0;
  let open: string[] = [];
  // Not node:readline, which also breaks lines at U+2028, and JSON may hold that as it is.
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
  if (rest.trim() === '' || (options.skipHalfWritten && !isJson(rest))) return;
  yield { text: rest, place: `${file}:${number + 1}` };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
