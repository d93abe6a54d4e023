/** The page of staleness: time and scores of rollouts that run ahead of the learner. */

import type { Introduce } from '../leaderboard/introduction.ts';
import { countOf, worldsOf } from '../leaderboard/phrases.ts';
import type { Result } from '../leaderboard/results.ts';
import type { RowSummary } from '../leaderboard/summary.ts';
import { estimate, estimateText, mean } from '../shared/intervals.ts';
import { markdownTable } from '../shared/markdown-table.ts';
import { slow, slower } from './study.ts';

export const staleness: Introduce = (study, rows, results) => ({
  title: 'Slow tools: rollouts that run ahead of the learner',
  introduction: `\`--max-staleness N\` lets GRPO play up to N rollouts ahead of the learner. With slower searches (${slower.join(' to ')} s), a step takes ${timesAsLong(results, 'Slower searches')} times as long as with fast searches,
${timesAsLong(results, 'Slower searches 1 behind')} times one behind and ${timesAsLong(results, 'Slower searches 2 behind')} times two behind. With slow searches (${slow.join(' to ')} s), it takes ${timesAsLong(results, 'Slow searches')} times as long, because the sampler plays other episodes meanwhile; one behind
${timesAsLong(results, '1 behind')} times, two behind ${timesAsLong(results, '2 behind')}, and four behind ${timesAsLong(results, '4 behind')}.

Each token is weighed by its probability under the learner over that under the sampler, at most 3; the rows “unweighted” leave the weights out. Four behind, the
worst world ends at ${worstOf(rows, '4 behind unweighted')} without them and at ${worstOf(rows, '4 behind')} with them. Greedy answers are near 1, so they could show little else.

Each run makes ${study.steps} updates of ${study.tasksPerStep * study.groupSize} episodes of bridge questions from the policy of the demo, at the learning rate of [the budget](budget.md), on a machine with light other work.
Exact match (EM) and F1 of greedy answers to ${countOf(results)} test questions, as means over ${worldsOf(rows)} worlds with 95 % intervals.

${timeTable(rows, results)}`,
  explanation: '',
});

/** Time, and the score of sampled answers. */
function timeTable(rows: readonly RowSummary[], results: readonly Result[]): string {
  const lines = rows.map(({ name }) => {
    const sampled = results.flatMap((result) =>
      result.row === name && result.sampled ? [mean(Object.values(result.sampled).map(({ em }) => em))] : [],
    );
    const score = sampled.length > 0 ? estimateText(estimate(sampled)) : '';
    return [name, secondsAStep(results, name).toFixed(2), score];
  });
  return markdownTable(['row', 'seconds a step', 'EM of sampled answers'], lines);
}

/** Exact match in the worst world. */
function worstOf(rows: readonly RowSummary[], name: string): string {
  const row = rows.find((each) => each.name === name);
  return row ? Math.min(...row.bySeed.values()).toFixed(3) : 'not measured';
}

function timesAsLong(results: readonly Result[], name: string): string {
  return (secondsAStep(results, name) / secondsAStep(results, 'Fast searches')).toFixed(2);
}

/** The mean over the worlds; NaN for a row without results. */
function secondsAStep(results: readonly Result[], name: string): number {
  const own = results.filter(({ row }) => row === name);
  return mean(own.map((result) => result.seconds / (result.stepsInAll ?? 1)));
}
