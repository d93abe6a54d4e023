/** The differences between rows, as a table with intervals and as sentences. */
import { differenceText, direction } from './intervals.ts';
import { markdownTable } from './markdown-table.ts';
import type { Study } from './studies.ts';
import { difference, type RowSummary } from './summary.ts';

export function differenceTable({ references }: Study, rows: readonly RowSummary[]): string {
  const columns = rows.filter(({ name }) => references.includes(name));
  const lines = rows.map((row) => [
    row.name,
    ...columns.map((reference) => {
      const estimate = row === reference ? undefined : difference(row, reference);
      if (!estimate) return '';
      const text = differenceText(estimate);
      return direction(estimate) === 0 ? text : `**${text}**`;
    }),
  ]);
  return markdownTable(['row', ...columns.map(({ name }) => `minus ${name}`)], lines);
}

/** For each reference, which agents are better, which are worse, and which cannot be told apart from it. */
export function comparisons({ references, rows: all }: Study, rows: readonly RowSummary[]): string {
  const agents = rows.filter(({ name }) => all.some((row) => row.name === name && 'trainer' in row));
  const sentences = references.flatMap((name) => {
    const reference = rows.find((row) => row.name === name);
    const compared = agents.flatMap((row) => {
      const estimate = reference && row !== reference ? difference(row, reference) : undefined;
      return estimate ? [{ name: row.name, estimate }] : [];
    });
    if (compared.length === 0) return [];
    const list = (sign: -1 | 0 | 1) =>
      compared
        .filter(({ estimate }) => direction(estimate) === sign)
        .map((row) => row.name)
        .join(', ');
    const parts = [
      ['better', list(1)],
      ['worse', list(-1)],
      ['not told apart', list(0)],
    ].flatMap(([verdict, names]) => (names ? [`${verdict}: ${names}`] : []));
    return [`- Compared with ${name}: ${parts.join('; ')}.`];
  });
  return sentences.join('\n');
}
