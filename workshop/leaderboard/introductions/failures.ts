/** The page of searches that fail. */
import { markdownTable } from '../markdown-table.ts';
import type { Recovery } from '../recovery.ts';
import type { Result } from '../results.ts';
import { mean, type RowSummary } from '../summary.ts';
import type { Introduce } from './introduction.ts';
import { averageOf, countOf, differenceBetween, worldsOf } from './phrases.ts';

export const failures: Introduce = (study, rows, results) => ({
  title: 'A search that fails',
  introduction: `${100 * study.failures!} % of the searches return nothing here, by a hash of the query and its place in the episode; the same search may succeed when it is repeated. Bridge questions, ${study.steps} updates of ${study.tasksPerStep * study.groupSize} episodes, at most
${study.maxTurns! - 1} searches each. Exact match (EM) and F1 of answers to ${countOf(results)} test questions, in ${worldsOf(rows)} world: a gate, which decides whether the study is worth more worlds.

${recoveryTable(rows, results)}

- **What did the model know before?** It is the policy of the demo before its bad habits: it answers such questions where no search fails, and no demonstration
  showed it a search that fails. It repeats some of them all the same.
- **What is the ceiling?** The demonstrator repeats every search that fails: ${averageOf(rows, 'Demonstrator')}.
- **Does reinforcement learning amplify what is rare?** GRPO minus the start: ${differenceBetween(rows, 'GRPO', 'Start')}. So does the imitation of all right answers of each group of
  ${study.groupSize}: GRPO minus that row is ${differenceBetween(rows, 'GRPO', 'All right answers')}. The gate asked for 0.8 and for 0.1 more than imitation, so no other world was played.
- **Why not more?** Look at the episodes: where the first search fails, the trained policy repeats it and goes on. Where the second fails, the policy reads the name for its next search
  from the document just before it, and an empty result has no name: it repeats its thought with another entity, and answers about that.
- **What can this study not show?** Whether supervision could do it: no row learns from demonstrations that repeat searches. The rows have the same number of updates, and learning rates that were not
  tuned here.`,
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
