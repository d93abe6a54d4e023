/** The differences between rows, as a table with intervals and as sentences. */
import { differenceText, direction } from '../shared/intervals.ts';
import { markdownTable } from '../shared/markdown-table.ts';
import type { Study } from './study.ts';
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
export function comparisons(study: Study, rows: readonly RowSummary[]): string {
  const sentences = study.references.flatMap((name) => {
    const verdicts = comparisonWith(study, rows, name);
    return verdicts === '' ? [] : [`- Compared with ${name}: ${verdicts}.`];
  });
  return sentences.join('\n');
}

/** `better: PPO; not told apart: RLOO`; empty if no agent played the worlds of the reference. */
export function comparisonWith({ rows: all }: Study, rows: readonly RowSummary[], name: string): string {
  const agents = rows.filter((row) => all.some((each) => each.name === row.name && 'trainer' in each));
  const reference = rows.find((row) => row.name === name);
  const compared = agents.flatMap((row) => {
    const estimate = reference && row !== reference ? difference(row, reference) : undefined;
    return estimate ? [{ name: row.name, estimate }] : [];
  });
  const list = (sign: -1 | 0 | 1) =>
    compared
      .filter(({ estimate }) => direction(estimate) === sign)
      .map((row) => row.name)
      .join(', ');
  const verdicts = [
    ['better', list(1)],
    ['worse', list(-1)],
    ['not told apart', list(0)],
  ];
  return verdicts.flatMap(([verdict, names]) => (names ? [`${verdict}: ${names}`] : [])).join('; ');
}
