/** The page of searches that fail. */

import type { Introduce } from '../leaderboard/introduction.ts';
import { countOf, differenceBetween, worldsOf } from '../leaderboard/phrases.ts';
import type { Recovery } from '../leaderboard/recovery.ts';
import type { Result } from '../leaderboard/results.ts';
import type { RowSummary } from '../leaderboard/summary.ts';
import { mean } from '../shared/intervals.ts';
import { markdownTable } from '../shared/markdown-table.ts';

export const failures: Introduce = (study, rows, results) => ({
  title: 'A search that fails',
  introduction: `Do rewards amplify a rare recovery? GRPO minus the start: ${differenceBetween(rows, 'GRPO', 'Start')} of exact match (EM). Minus the imitation of all right answers of each group of ${study.groupSize}:
${differenceBetween(rows, 'GRPO', 'All right answers')}. The gate, ${worldsOf(rows)} world, asked for an EM of 0.8 and for 0.1 more than imitation, so no other world was played.

${100 * study.failures!} % of the searches return nothing; the same search may succeed when it is repeated. Bridge questions, ${study.steps} updates of ${study.tasksPerStep * study.groupSize} episodes, at most ${study.maxTurns! - 1} searches each,
${countOf(results)} test questions. The start is the policy of the demo before its bad habits. No demonstration showed it a failed search. The demonstrator repeats each.

${recoveryTable(rows, results)}

Where the first search fails, the trained policy repeats it. Where the second fails, it takes the name for its next search from the empty result, and so another
entity. Not shown: whether demonstrations that repeat searches would teach it. Learning rates were not tuned.`,
  explanation: '',
});

/** Sampled answers, and what happened after searches that failed. */
function recoveryTable(rows: readonly RowSummary[], results: readonly Result[]): string {
  const lines = rows.flatMap(({ name }) => {
    const own = results.filter(({ row }) => row === name);
    return (['scores', 'sampled'] as const).flatMap((decoding) => {
      const scores = own.flatMap((result) => Object.values(result[decoding] ?? {}));
      const sum = (count: (recovery: Recovery) => number) =>
        scores.reduce((total, { recovery }) => total + (recovery ? count(recovery) : 0), 0);
      if (scores.length === 0) return [];
      const [right, repeated] = [
        sum((recovery) => recovery.right) / sum(({ episodes }) => episodes),
        sum((recovery) => recovery.repeated) / sum(({ failed }) => failed),
      ];
      const cells = [mean(scores.map(({ em }) => em)), right, repeated].map((value) => value.toFixed(3));
      return [[name, decoding === 'scores' ? 'greedy' : 'sampled', ...cells]];
    });
  });
  const header = ['row', 'answers', 'EM', 'EM where a search failed', 'failed searches that are repeated'];
  return markdownTable(header, lines);
}
