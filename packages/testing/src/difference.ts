/** Finds where two transcripts begin to differ, and quotes that place for a report. */

/** Characters shown before and after the first difference. */
const before = 20;
const after = 80;

/** Excerpts of both sides at their first difference; `undefined` if they are equal. A side is a list of JSON texts, one per step. */
export function difference(
  expected: readonly string[],
  received: readonly string[],
): { expected: string; received: string } | undefined {
  const step = expected.findIndex((text, index) => text !== received[index]);
  if (step < 0 && expected.length === received.length) return undefined;
  const index = step < 0 ? expected.length : step;
  const [left = 'the end', right = 'the end'] = [expected[index], received[index]];
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const excerpt = (text: string) => text.slice(Math.max(0, at - before), at + after);
  const where = index === 0 ? 'at reset' : `after step ${index}`;
  return { expected: `${where}: …${excerpt(left)}`, received: `${where}: …${excerpt(right)}` };
}
