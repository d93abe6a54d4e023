/** Splits a JSON array or JSON lines into objects, because HotpotQA's training file exceeds the maximum length of a string. */
import { ToolEnvError } from '@toolenv/core';

const [quote, backslash, open, close, openArray, closeArray] = Buffer.from('"\\{}[]');

/**
 * The unparsed texts of the top-level objects in `bytes`. Only `[`, `]`, commas and white space may stand between them.
 * @throws ToolEnvError `usage.broken_file`, naming `path`, if anything else stands between them or the file ends early.
 */
export function* objectsOf(bytes: Buffer, path: string): Generator<string> {
  let depth = 0;
  let start = 0;
  let arrays = 0;
  let inString = false;
  // ASCII bytes never occur inside a multi-byte character of UTF-8, so the bytes can be checked one by one.
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (inString) {
      if (byte === backslash) i++;
      else if (byte === quote) inString = false;
    } else if (byte === open) {
      if (depth++ === 0) start = i;
    } else if (byte === close && depth > 0) {
      if (--depth === 0) yield bytes.toString('utf8', start, i + 1);
    } else if (depth > 0) {
      if (byte === quote) inString = true;
    } else if (byte === openArray) arrays++;
    else if (byte === closeArray) arrays--;
    else if (!isSeparator(byte, i))
      throw broken(path, `unexpected ${JSON.stringify(bytes.toString('utf8', i, i + 20))} at byte ${i}`);
  }
  if (depth > 0 || arrays !== 0) throw broken(path, 'it ends too early');
}

/** White space, a comma, or the byte order mark at the start of the file. */
function isSeparator(byte: number, offset: number): boolean {
  return (
    byte === 0x20 ||
    byte === 0x0a ||
    byte === 0x0d ||
    byte === 0x09 ||
    byte === 0x2c ||
    (offset < 3 && byte > 0xba)
  );
}

function broken(path: string, what: string): ToolEnvError {
  const remedy = "give a file in HotpotQA's JSON format: an array of objects";
  return new ToolEnvError('usage.broken_file', `${path} is not JSON (${what}): ${remedy}.`);
}
