/** libraryTable: how often the small policy succeeds, from docs/benchmarks/library.jsonl. */

import { learnedNames } from '../../studies/library/environments.ts';
import { newestOf, type Result, type RowName } from '../../studies/library/results.ts';
import { mean } from '../../studies/shared/intervals.ts';
import { markdownTable } from '../../studies/shared/markdown-table.ts';

interface Column {
  title: string;
  row: RowName;
  decoding: 'greedy' | 'sampled';
}

const columns: readonly Column[] = [
  { title: 'greedy', row: 'Start', decoding: 'greedy' },
  { title: 'sampled', row: 'Start', decoding: 'sampled' },
  { title: 'sampled, after more demonstrations', row: 'SFT on demonstrations', decoding: 'sampled' },
  { title: 'sampled, after GRPO', row: 'GRPO', decoding: 'sampled' },
];

/** @param all Results in the order in which they were measured. Those of the newest policy count. */
export function libraryTable(all: readonly Result[]): string {
  const newest = newestOf(all);
  const measured = columns.filter(({ row }) => newest.some((result) => result.row === row));
  const lines = learnedNames.map((name) => [
    name,
    ...measured.map(({ row, decoding }) => {
      const results = newest.filter((each) => each.environment === name && each.row === row);
      return results.length === 0 ? '' : mean(results.map((each) => each[decoding].all)).toFixed(2);
    }),
  ]);
  return markdownTable(['environment', ...measured.map(({ title }) => title)], lines);
}
