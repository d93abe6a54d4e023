/** Stop texts: a turn ends when one of them has been written, in however many tokens. */

/** Whether the newest of the tokens completes a stop text. */
export function completesStop(
  sampled: readonly number[],
  stop: readonly string[],
  decode: (tokens: Int32Array) => string,
): boolean {
  // A token is a byte at least; one more, because the first of a text may lose its leading space.
  const longest = 1 + Math.max(...stop.map((text) => Buffer.byteLength(text)));
  const tail = decode(Int32Array.from(sampled.slice(-longest)));
  return stop.some((text) => tail.includes(text));
}

/** The text up to the first stop text in it. */
export function beforeStop(text: string, stop: readonly string[]): string {
  const starts = stop.map((each) => text.indexOf(each)).filter((start) => start >= 0);
  return starts.length === 0 ? text : text.slice(0, Math.min(...starts));
}
