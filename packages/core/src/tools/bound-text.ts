/** boundText: the text of a call as records keep it. */

/**
 * At most `limit` UTF-16 units of `text`, without splitting a surrogate pair, and a note that says how much was cut.
 * @param length Length of the text before it was cut the first time.
 */
export function boundText(text: string, limit: number, length: number = text.length): string {
  if (length <= limit) return text;
  const splitsPair = limit > 0 && /[\uD800-\uDBFF]/.test(text[limit - 1]!);
  // Copied, because a slice keeps the whole text in memory that it was cut from.
  const kept = Buffer.from(text.slice(0, splitsPair ? limit - 1 : limit), 'utf16le').toString('utf16le');
  return `${kept} […${length - kept.length} characters cut]`;
}
