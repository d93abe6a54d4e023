/** Python's white space, which is not JavaScript's: it has separators such as U+001C and U+0085, and no byte order mark. */

/** The inside of a class of a regular expression. */
export const whitespace =
  '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

/** Characters that end a line of `str.splitlines`, as the inside of a class. */
export const lineEnd = '\\n-\\r\\x1c-\\x1e\\x85\\u2028\\u2029';

const one = new RegExp(`[${whitespace}]`);

export function isSpace(character: string): boolean {
  return character !== '' && one.test(character);
}

/** `str.rstrip`. @param isStripped Whether a character goes; none of them is above U+FFFF. */
export function stripEnd(text: string, isStripped: (character: string) => boolean = isSpace): string {
  let end = text.length;
  while (end > 0 && isStripped(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** `str.lstrip`. */
export function stripStart(text: string, isStripped: (character: string) => boolean = isSpace): string {
  let start = 0;
  while (start < text.length && isStripped(text[start]!)) start += 1;
  return text.slice(start);
}
