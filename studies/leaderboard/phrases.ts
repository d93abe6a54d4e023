/** Figures of rows, in the sentences of a page. */
import { differenceText, estimateText } from '../shared/intervals.ts';
import type { Result } from './results.ts';
import { difference as differenceOf, type RowSummary } from './summary.ts';

export function bestOf(rows: readonly RowSummary[]): RowSummary | undefined {
  return rows.toSorted((a, b) => b.average.em.mean - a.average.em.mean)[0];
}

export function averageOf(rows: readonly RowSummary[], name: string): string {
  const row = rows.find((each) => each.name === name);
  return row ? estimateText(row.average.em, -Infinity) : 'not measured';
}

export function differenceBetween(rows: readonly RowSummary[], name: string, reference: string): string {
  const row = rows.find((each) => each.name === name);
  return row ? differenceTo(rows, row, reference) : 'not measured';
}

export function differenceTo(rows: readonly RowSummary[], row: RowSummary, name: string): string {
  const reference = rows.find((each) => each.name === name);
  const difference = reference && differenceOf(row, reference);
  return difference ? differenceText(difference) : 'not measured';
}

export function countOf(results: readonly Result[]): string {
  return [...new Set(results.map(({ count }) => count))].join(' or ');
}

export function worldsOf(rows: readonly RowSummary[]): string {
  const counts = rows.map(({ seeds }) => seeds.length);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? String(most) : `${least} to ${most}`;
}
