/** The page of staleness: time and scores of rollouts that run ahead of the learner. */
import { estimate, estimateText } from '../intervals.ts';
import { markdownTable } from '../markdown-table.ts';
import type { Result } from '../results.ts';
import { mean, type RowSummary } from '../summary.ts';
import type { Introduce } from './introduction.ts';
import { countOf, worldsOf } from './phrases.ts';

export const staleness: Introduce = (study, rows, results) => {
  const [least, most] = study.searchSeconds!;
  return {
    title: 'Slow tools: rollouts that run ahead of the learner',
    introduction: `\`--max-staleness N\` lets GRPO play up to N rollouts ahead of the learner. Each search takes ${1000 * least} to ${1000 * most} ms here, drawn uniformly, and each run
makes ${study.steps} updates of ${study.tasksPerStep * study.groupSize} episodes of bridge questions, from the policy of the demo. Exact match (EM) and F1 of greedy answers to ${countOf(results)} test
questions, as means over ${worldsOf(rows)} worlds with 95 % intervals.

${timeTable(rows, results)}

- **What corrects a rollout that is behind?** Each token is weighed by its probability under the learner over that under the sampler, at most 3. The rows “unweighted” leave
  the weights out.
- **What could not show an effect?** One world’s scores differ from another’s by as much as the intervals say; smaller effects are not seen here. All rows have the
  learning rate of [the budget](budget.md), which was chosen without staleness.`,
    explanation: '',
  };
};

/** Time and the score of sampled answers. */
function timeTable(rows: readonly RowSummary[], results: readonly Result[]): string {
  const lines = rows.map(({ name }) => {
    const own = results.filter(({ row }) => row === name);
    const seconds = own.map((result) => result.seconds / (result.stepsInAll ?? 1));
    const sampled = own.flatMap((result) =>
      result.sampled ? [mean(Object.values(result.sampled).map(({ em }) => em))] : [],
    );
    return [name, mean(seconds).toFixed(2), sampled.length > 0 ? estimateText(estimate(sampled)) : ''];
  });
  return markdownTable(['row', 'seconds a step', 'EM of sampled answers'], lines);
}
