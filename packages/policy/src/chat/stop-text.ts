/** Stop texts: a turn ends when the model has written one of them, in any number of tokens. */

/** Whether the last token completes a stop text. */
export function completesStop(
  sampled: readonly number[],
  stop: readonly string[],
  decode: (tokens: Int32Array) => string,
): boolean {
  // A token is at least one byte. Decode one token more, because the first token of a text may lose its leading space.
  const longest = 1 + Math.max(...stop.map((text) => Buffer.byteLength(text)));
  const tail = decode(Int32Array.from(sampled.slice(-longest)));
  return stop.some((text) => tail.includes(text));
}

/** The text before its first stop text. */
export function beforeStop(text: string, stop: readonly string[]): string {
  const starts = stop.map((each) => text.indexOf(each)).filter((start) => start >= 0);
  return starts.length === 0 ? text : text.slice(0, Math.min(...starts));
}
