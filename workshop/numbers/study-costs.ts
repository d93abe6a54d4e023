/** studyCosts: how long the studies take to run again, from the seconds that their results record. */

import type { Result } from '../../studies/leaderboard/results.ts';
import { studies } from '../../studies/leaderboard/studies.ts';
import { tuningOf, tuningSeed } from '../../studies/leaderboard/study.ts';
import { type Result as LibraryResult, newestOf } from '../../studies/library/results.ts';
import { markdownTable } from '../../studies/shared/markdown-table.ts';
import { lastResultsOf } from './leaderboard-figures.ts';

/** A line for each page, and their sum. The runs that chose the learning rates count. */
export function studyCosts(known: readonly Result[], library: readonly LibraryResult[]): string {
  const ofStudies = Object.values(studies).map((study) => ({
    page: study.name,
    command: `npm run leaderboard -- --study ${study.name}`,
    results: [...lastResultsOf(study, known), ...lastResultsOf(tuningOf(study), known, [tuningSeed])],
  }));
  const all = [
    ...ofStudies,
    { page: 'library', command: 'npm run library-study', results: newestOf(library) },
  ];
  const measured = all.filter(({ results }) => results.length > 0);
  const lines = measured.map(({ page, command, results }) => [
    `[${page}](${page}.md)`,
    `\`${command}\``,
    ...costOf(results),
  ]);
  const sum = ['all', '', ...costOf(measured.flatMap<{ seconds: number }>(({ results }) => results))];
  return markdownTable(['page', 'command', 'runs', 'hours'], [...lines, sum]);
}

/** The number of runs, and their hours. */
function costOf(results: readonly { seconds: number }[]): string[] {
  const seconds = results.reduce((total, result) => total + result.seconds, 0);
  return [String(results.length), (seconds / 3600).toFixed(1)];
}
