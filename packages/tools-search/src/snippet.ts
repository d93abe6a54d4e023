/** snippet: the part of a long text that has most words of the query. */

/** At most `characters` UTF-16 units of the text, cut between words. `…` marks a cut. */
export function snippet(text: string, query: string, characters: number): string {
  if (text.length <= characters) return text;
  const wanted = new Set(words(query).map(([word]) => word));
  const found = words(text);
  let best = { start: 0, count: -1 };
  let last = 0;
  const inside = new Map<string, number>();
  for (const [first, [word, start]] of found.entries()) {
    for (; last < found.length && found[last]![2] - start <= characters; last++) {
      const next = found[last]![0];
      if (wanted.has(next)) inside.set(next, (inside.get(next) ?? 0) + 1);
    }
    if (inside.size > best.count) best = { start: first === 0 ? 0 : start, count: inside.size };
    const left = (inside.get(word) ?? 0) - 1;
    if (left > 0) inside.set(word, left);
    else inside.delete(word);
  }
  const end = found.findLast(([, , at]) => at - best.start <= characters)?.[2] ?? best.start + characters;
  const kept = text.slice(best.start, Math.max(end, best.start)).trimEnd();
  return `${best.start > 0 ? '…' : ''}${kept}${end < text.length ? '…' : ''}`;
}

/** Words in lower case, with their places. */
function words(text: string): [word: string, start: number, end: number][] {
  return Array.from(text.matchAll(/[\p{L}\p{N}]+/gu), (match) => [
    match[0].toLowerCase(),
    match.index,
    match.index + match[0].length,
  ]);
}
