/** studyCosts: how long the studies take to run again, from the seconds that their results record. */
import { markdownTable } from '../leaderboard/markdown-table.ts';
import type { Result } from '../leaderboard/results.ts';
import { studies, tuningOf, tuningSeed } from '../leaderboard/studies.ts';
import { type Result as LibraryResult, newestOf } from '../library-study/results.ts';
import { lastResultsOf } from './leaderboard-figures.ts';

interface Cost {
  page: string;
  command: string;
  runs: number;
  seconds: number;
}

/** A line for each page, and their sum. The runs that chose the learning rates count. */
export function studyCosts(known: readonly Result[], library: readonly LibraryResult[]): string {
  const costs = Object.values(studies).map((study) => {
    const results = [...lastResultsOf(study, known), ...lastResultsOf(tuningOf(study), known, [tuningSeed])];
    return costOf(study.name, `npm run leaderboard -- --study ${study.name}`, results);
  });
  costs.push(costOf('library', 'npm run library-study', newestOf(library)));
  const sum = (of: (cost: Cost) => number) => costs.reduce((total, cost) => total + of(cost), 0);
  const all = {
    page: 'all',
    command: '',
    runs: sum(({ runs }) => runs),
    seconds: sum(({ seconds }) => seconds),
  };
  const lines = [...costs.filter(({ runs }) => runs > 0), all].map(({ page, command, runs, seconds }) => [
    page === 'all' ? page : `[${page}](${page}.md)`,
    command && `\`${command}\``,
    String(runs),
    (seconds / 3600).toFixed(1),
  ]);
  return markdownTable(['page', 'command', 'runs', 'hours'], lines);
}

function costOf(page: string, command: string, results: readonly { seconds: number }[]): Cost {
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  return { page, command, runs: results.length, seconds };
}
