/** "Did you mean": finds the valid name nearest to a misspelt name, by Levenshtein distance. */

/** A hint for the end of an error: `Did you mean "x"?`, or else the list of valid names after `label`. */
export function didYouMean(name: string, candidates: readonly string[], label: string): string {
  const near = nearest(name, candidates);
  return near ? `Did you mean "${near}"?` : `${label}: ${candidates.join(', ') || 'none'}.`;
}

/** What to say of a part of `value` that would be overlooked: `an unknown part "reward". Did you mean "rewards"?` */
export function unknownPart(value: object, parts: readonly string[]): string | undefined {
  const unknown = Object.keys(value).find((part) => !parts.includes(part));
  return unknown === undefined
    ? undefined
    : `an unknown part "${unknown}". ${didYouMean(unknown, parts, 'Parts')}`;
}

/**
 * The nearest candidate, if any is near enough.
 * @param edits How many single letters may differ. Default: a third of the name's length, at least 2.
 */
export function nearest(
  name: string,
  candidates: readonly string[],
  edits: number = Math.max(2, Math.floor(name.length / 3)),
): string | undefined {
  let best: string | undefined;
  let bestDistance = edits + 1;
  for (const candidate of candidates) {
    // The distance is at least the difference of the lengths. A model may write a name of any length.
    if (Math.abs(name.length - candidate.length) >= bestDistance) continue;
    const distance = levenshtein(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function levenshtein(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substitution, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[b.length]!;
}
