/** completesStop: a turn ends when the model has written a stop text, in any number of tokens. */

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
