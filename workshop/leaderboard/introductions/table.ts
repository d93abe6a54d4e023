/** The page of the table: trainers until their scores are flat. */
import { markdownTable } from '../markdown-table.ts';
import type { Result } from '../results.ts';
import { chances } from '../sort-scores.ts';
import type { Study } from '../studies.ts';
import { mean, type RowSummary } from '../summary.ts';
import type { Introduce } from './introduction.ts';
import { averageOf, bestOf, countOf, differenceTo, worldsOf } from './phrases.ts';

export const table: Introduce = (study, rows, results) => {
  const best = bestAgent(study, rows);
  return {
    title: 'Agents on synthetic worlds',
    introduction: `Exact match (EM) and F1 of greedy answers to ${countOf(results)} test questions of each dataset, as means over ${worldsOf(rows)} worlds with 95 %
intervals. All rows have the same model, search index and questions.

- **What is the ceiling?** The demonstrator knows each world and plays a good strategy with the same search tool: ${averageOf(rows, 'Demonstrator')}.
- **What can this table show, and what not?** How near each trainer comes to a skill that supervised training has already taught. It shows little of comparisons. Half of
  their questions ask for yes or no, and half for one of two names. Who answers the first half and draws a name by a coin has 0.75; who draws each word of a
  name of two words, 0.625. The trained rows are near these figures. They differ mostly
  in the questions for a name: see the sorts of question below.
- **What did the model know before?** It learned to search in other worlds, on bridge and comparison questions. A last supervised phase gave it bad habits on purpose: from ${averageOf(rows, 'Best supervised phase')} down to ${averageOf(rows, 'Base Tool Call')}, where every agent starts. So an agent must beat the row
  “Best supervised phase”, which is from another run of the recipe, to show more than it could do before.${best ? ` The best agent, ${best.name}, minus that row: ${differenceTo(rows, best, 'Best supervised phase')}.` : ''}
- **Is reinforcement learning needed?**${
      best
        ? ` ${best.name} minus supervised training on the demonstrator’s episodes: ${differenceTo(rows, best, 'SFT on demonstrations')}. Minus rejection sampling: ${differenceTo(rows, best, 'Rejection sampling')}. Rejection sampling
  imitates the best of each ${study.groupSize} episodes even if its answer is wrong, because a found document has a reward of its own. [The study of the budget](budget.md) judges by
  the answer.`
        : ''
    }
- **When did training end?** After ${study.patience} evaluations on ${study.evaluationEpisodes} validation questions without a new best, one every ${study.evaluateEvery} steps, or after ${study.steps} steps. The
  weights of the best evaluation were scored; the table has their step. Each update uses ${study.tasksPerStep * study.groupSize} episodes.
- **Who chose the learning rates?** Validation questions in another world: see below. REINFORCE++, REINFORCE++-baseline and RLOO have the rate of GRPO.
- **Is it chance?** All rows played the same ${worldsOf(rows)} worlds, so differences are paired. Read the intervals below, not the order of the rows.`,
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

Exact match of greedy answers, in the worlds that were measured by sort.

${markdownTable(['row', ...sorts, 'worlds'], [chance, ...lines])}`;
}

/** The trained row with the greatest average, of those that play episodes of their own by an algorithm of reinforcement learning. */
function bestAgent({ references, rows: all }: Study, rows: readonly RowSummary[]): RowSummary | undefined {
  const isAgent = ({ name }: RowSummary) =>
    all.some((row) => row.name === name && 'trainer' in row && !row.trainer.includes('trainer-sft'));
  return references.length === 0 ? undefined : bestOf(rows.filter(isAgent));
}
