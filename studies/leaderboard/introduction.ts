/** What a page says before and after its tables. */
import type { Result } from './results.ts';
import type { Study } from './study.ts';
import type { RowSummary } from './summary.ts';

export interface Introduction {
  title: string;
  introduction: string;
  explanation: string;
}

export type Introduce = (
  study: Study,
  rows: readonly RowSummary[],
  results: readonly Result[],
) => Introduction;
