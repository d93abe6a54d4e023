/** Finds a message in a rendered conversation. */

/**
 * An index for a mark in the middle of a text. The middle excludes outer spaces, so that templates that trim the text
 * or look at its start and end treat it the same with the mark. The index is before the first of `ends` and never
 * splits a surrogate pair.
 */
export function middleOf(text: string, ends: readonly string[]): number {
  const start = text.length - text.trimStart().length;
  const middle = start + Math.floor(text.trim().length / 2);
  const firstEnds = ends.map((end) => text.indexOf(end)).filter((index) => index >= 0);
  const at = Math.min(middle, ...firstEnds);
  return /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(Math.max(0, at - 1), at + 1)) ? at - 1 : at;
}
