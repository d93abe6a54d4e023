/**
 * Text as Python's `str` and `re` see it, because the official scripts of the datasets are Python. Characters that a newer Unicode
 * added than Python's own count as Python of that Unicode would count them.
 */

/** Where `str.split()` divides. JavaScript's `\s` lacks U+001C–1F and U+0085, and has U+FEFF. */
const whiteSpace =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Python counts these controls as white space.
  /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/** Python's `string.punctuation`: ASCII only. */
const punctuation = /[!-/:-@[-`{-~]/g;

/** `\b(a|an|the)\b`. Python's `\w` has the letters and numbers of every script; JavaScript's only those of ASCII. */
const articles = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;

/** `text.split()` */
export function splitWords(text: string): string[] {
  return text.split(whiteSpace).filter((word) => word !== '');
}

/** `text` without the characters of `string.punctuation`. */
export function withoutPunctuation(text: string): string {
  return text.replaceAll(punctuation, '');
}

/** `re.sub(r'\b(a|an|the)\b', ' ', text)` */
export function withoutArticles(text: string): string {
  return text.replaceAll(articles, ' ');
}
