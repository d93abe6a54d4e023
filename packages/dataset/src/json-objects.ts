/** Splits a JSON array or JSON lines into objects while it streams, because published files have a gigabyte. */
import { ToolEnvError } from '@toolenv/core';

const [quote, backslash, open, close, openArray, closeArray] = Buffer.from('"\\{}[]');
const separators = Buffer.from(' \n\r\t,');
/** Largest size of one object, in bytes. A quote that nobody closes would collect the rest of the file. */
export const maxObjectLength = 64 * 2 ** 20;

/**
 * The unparsed texts of the top-level objects. Only `[`, `]`, commas and white space may stand between them. Holds one object at a time.
 * @param path Names the file in errors.
 * @throws ToolEnvError `usage.broken_file` if anything else stands between objects, the file ends early, or it is not UTF-8.
 */
export async function* objectsOf(chunks: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<string> {
  let [depth, arrays, offset, number, length] = [0, 0, 0, 0, 0];
  let [inString, escaped] = [false, false];
  let parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    if (offset === 0) refuseUtf16(chunk, path);
    let start = 0;
    // ASCII bytes never occur inside a multi-byte character of UTF-8, so the bytes can be checked one by one.
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inString = false;
      } else if (byte === open) {
        if (depth++ === 0) start = i;
      } else if (byte === close && depth > 0) {
        if (--depth > 0) continue;
        parts.push(chunk.subarray(start, i + 1));
        yield decode(parts, `${path}, record ${++number}`);
        parts = [];
        length = 0;
      } else if (depth > 0) {
        if (byte === quote) inString = true;
      } else if (byte === openArray) arrays++;
      else if (byte === closeArray) arrays--;
      else if (!isSeparator(byte, offset + i)) throw unexpected(chunk.subarray(i, i + 20), offset + i, path);
    }
    offset += chunk.length;
    if (depth === 0) continue;
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > maxObjectLength) throw broken(path, `record ${number + 1} does not end within 64 MiB`);
  }
  if (depth > 0 || arrays !== 0) {
    const after = number === 0 ? 'before its first record ends' : `after record ${number}`;
    throw broken(path, `it ends too early, ${after}`);
  }
}

/** @throws ToolEnvError `usage.broken_file` if the bytes are not UTF-8. */
export function decode(parts: readonly Uint8Array[], place: string): string {
  try {
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const remedy = 'convert the file to UTF-8 (iconv -f <encoding> -t UTF-8) or download it again';
    throw new ToolEnvError('usage.broken_file', `${place} is not UTF-8: ${remedy}.`, {
      cause: error,
    });
  }
}

/** @throws ToolEnvError `usage.broken_file` for a file that begins as UTF-16 does. */
export function refuseUtf16([first, second]: Uint8Array, path: string): void {
  if (!(first === 0xff && second === 0xfe) && !(first === 0xfe && second === 0xff)) return;
  const remedy = 'convert it (iconv -f UTF-16 -t UTF-8)';
  throw new ToolEnvError('usage.broken_file', `${path} is UTF-16 and must be UTF-8: ${remedy}.`);
}

/** White space, a comma, or the byte order mark at the start of the file. */
function isSeparator(byte: number, offset: number): boolean {
  return separators.includes(byte) || (offset < 3 && byte > 0xba);
}

function unexpected(bytes: Uint8Array, offset: number, path: string): ToolEnvError {
  return broken(path, `unexpected ${JSON.stringify(Buffer.from(bytes).toString())} at byte ${offset}`);
}

function broken(path: string, what: string): ToolEnvError {
  const remedy = 'give a whole file of JSON objects, in an array or one on each line, or download it again';
  return new ToolEnvError('usage.broken_file', `${path} is not JSON (${what}): ${remedy}.`);
}
