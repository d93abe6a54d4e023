/** Finding in a rendered conversation what it was rendered from. */

/** The length of what two texts begin with alike. */
export function sharedStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/**
 * A place in the middle of what is left of a text without outer spaces, so that a template that trims or looks at its start
 * and end treats both alike; before the first of `ends` in it, and in no surrogate pair.
 */
export function middleOf(text: string, ends: readonly string[]): number {
  const start = text.length - text.trimStart().length;
  const middle = start + Math.floor(text.trim().length / 2);
  const firstEnds = ends.map((end) => text.indexOf(end)).filter((index) => index >= 0);
  const at = Math.min(middle, ...firstEnds);
  return /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(Math.max(0, at - 1), at + 1)) ? at - 1 : at;
}
