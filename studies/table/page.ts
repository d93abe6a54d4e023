/** The page of the table: trainers until their scores are flat. */

import type { Introduce } from '../leaderboard/introduction.ts';
import { bestOf, countOf, differenceTo, worldsOf } from '../leaderboard/phrases.ts';
import type { Result } from '../leaderboard/results.ts';
import { chances } from '../leaderboard/sort-scores.ts';
import type { Study } from '../leaderboard/study.ts';
import type { RowSummary } from '../leaderboard/summary.ts';
import { mean } from '../shared/intervals.ts';
import { markdownTable } from '../shared/markdown-table.ts';

export const table: Introduce = (study, rows, results) => {
  const best = bestAgent(study, rows);
  return {
    title: 'Agents on synthetic worlds',
    introduction: `${
      best
        ? `The best agent, ${best.name}, minus supervised training on the demonstrator’s episodes: ${differenceTo(rows, best, 'SFT on demonstrations')} of exact match (EM). Minus rejection sampling: ${differenceTo(rows, best, 'Rejection sampling')}. Minus what
the model could do before: ${differenceTo(rows, best, 'Best supervised phase')}. `
        : ''
    }Means over ${worldsOf(rows)} worlds of greedy answers to ${countOf(results)} test questions of each dataset, with 95 % intervals.

- **What can this table not show?** More than the return of a skill. The model learned to search in other worlds (“Best supervised phase”, of another run of the recipe), and a last phase gave it
  bad habits on purpose, where every agent starts (“Base Tool Call”). Comparisons show little: half of them ask for yes or no and half for one of two names, so who
  draws the name by a coin has 0.75, and who draws each word of it 0.625.
- **When did training end?** After ${study.patience} evaluations on ${study.evaluationEpisodes} validation questions without a new best, one every ${study.evaluateEvery} steps, or after ${study.steps} steps of ${study.tasksPerStep * study.groupSize} episodes. The best weights
  were scored.
- **What do the rows know?** The demonstrator knows each world, and searches with the same tool. Rejection sampling imitates the best of each ${study.groupSize} episodes even if its answer is wrong, because a
  found document has a reward; [the budget](budget.md) judges by the answer. REINFORCE++, REINFORCE++-baseline and RLOO have the learning rate of GRPO.`,
    explanation: sortSection(rows, results),
  };
};

/** Exact match by sort of question, of the results that have it. */
function sortSection(rows: readonly RowSummary[], results: readonly Result[]): string {
  const sorts = Object.keys(chances);
  const lines = rows.flatMap(({ name }) => {
    const own = results.filter((result) => result.row === name && result.scores.comparison?.sorts);
    if (own.length === 0) return [];
    const cells = sorts.map((sort) => mean(own.map(({ scores }) => scores.comparison!.sorts![sort]!.em)));
    return [[name, ...cells.map((em) => em.toFixed(3)), own.map(({ seed }) => seed).join(', ')]];
  });
  if (lines.length === 0) return '';
  const chance = ['A guess of the right kind', ...sorts.map((sort) => chances[sort]!.toFixed(3)), ''];
  return `## Comparisons by sort of question

Exact match of greedy answers, where it was measured by sort.

${markdownTable(['row', ...sorts, 'worlds'], [chance, ...lines])}`;
}

/** The trained row with the greatest average, of those that play episodes of their own by an algorithm of reinforcement learning. */
function bestAgent({ references, rows: all }: Study, rows: readonly RowSummary[]): RowSummary | undefined {
  const isAgent = ({ name }: RowSummary) =>
    all.some((row) => row.name === name && 'trainer' in row && !row.trainer.includes('trainer-sft'));
  return references.length === 0 ? undefined : bestOf(rows.filter(isAgent));
}
