/** ReportData: what a report has of its runs, which answers what the page asks. */
import type { MetricsLine } from '@toolenv/training';
import type { RunOverview } from '../overview/run-overview.ts';
import type { EpisodeRow, Facets } from '../view/episode-index.ts';
import type { Answers } from '../view/routes.ts';
import type { RunHead, RunState } from '../view/viewed-run.ts';

export interface ReportedRun {
  head: RunHead;
  state: RunState;
  overview: RunOverview;
  metrics: MetricsLine[];
  /** The last ones of a run with very many. */
  rows: EpisodeRow[];
  facets?: Facets;
  /** The chosen episodes, by number. */
  episodes: Record<number, Answers['/api/episode']>;
}

export interface ReportData {
  version: 1;
  /** When the report was made, in ISO 8601. */
  made: string;
  /** Where the page opens: the part of its address from `#` on. */
  start?: string;
  runs: ReportedRun[];
}
