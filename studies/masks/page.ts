/** The page of the masks. */

import type { Introduce } from '../leaderboard/introduction.ts';
import { countOf, differenceBetween, worldsOf } from '../leaderboard/phrases.ts';
import type { Result } from '../leaderboard/results.ts';
import type { RowSummary } from '../leaderboard/summary.ts';
import { differenceText, mean, pairedDifference } from '../shared/intervals.ts';
import { markdownTable } from '../shared/markdown-table.ts';

export const masks: Introduce = (study, rows, results) => ({
  title: 'What the masks are worth',
  introduction: `The action mask keeps the environment’s tokens out of the loss, and is worth ${differenceBetween(rows, 'PPO', 'PPO without action mask')} of average exact match (EM) in PPO and ${differenceBetween(rows, 'GRPO', 'GRPO without action mask')} in GRPO. The
advantage mask keeps them out of returns, advantages and the critic’s loss, and is worth ${differenceBetween(rows, 'PPO', 'PPO without advantage mask')} with the action mask and ${differenceBetween(rows, 'PPO without action mask', 'PPO without both masks')} without it. In
GRPO, the advantage mask changes nothing, to the last bit: all tokens of an episode have one advantage.

Each row makes ${study.steps} updates of ${study.tasksPerStep * study.groupSize} episodes, with the settings of [the table](table.md), and without a mask at the best of three learning rates. PPO has γ = 1 and λ = 0.95. Scores are those of greedy answers
to ${countOf(results)} test questions of each dataset in ${worldsOf(rows)} worlds, with 95 % intervals.`,
  explanation: `## Why

${courseTable(rows, results)}

- Without the action mask, documents are trained as if the policy had chosen them. Their tokens are improbable, so they dominate the gradient: its first norm is
  greater by ${withoutMask(results, 'PPO', gradNorm)} in PPO, and by ${withoutMask(results, 'GRPO', gradNorm)} in GRPO. In the last step, the policy is less sure of each token, by ${withoutMask(results, 'PPO', surprise)} nats in PPO and
  ${withoutMask(results, 'GRPO', surprise)} in GRPO. A lower learning rate keeps it from breaking, and teaches it little.
- Without the advantage mask, each token of a document is a step over which credit decays: over 60 tokens, 0.95⁶⁰ = 5 % of a later reward remains.`,
});

const gradNorm = ({ firstGradNorm }: Result) => firstGradNorm;
const surprise = ({ logPerplexity }: Result) => logPerplexity?.last;

/** How much greater a value is without the action mask, paired by world. */
function withoutMask(
  results: readonly Result[],
  name: string,
  measure: (result: Result) => number | undefined,
): string {
  const bySeed = (row: string) =>
    new Map(
      results
        .filter((result) => result.row === row)
        .flatMap((result) => {
          const value = measure(result);
          return value === undefined ? [] : [[result.seed, value] as const];
        }),
    );
  const difference = pairedDifference(bySeed(`${name} without action mask`), bySeed(name));
  return difference ? differenceText(difference) : 'a number that was not measured';
}

/** The first and the last step of each row, as means over its worlds. */
function courseTable(rows: readonly RowSummary[], results: readonly Result[]): string {
  const lines = rows.map(({ name }) => {
    const own = results.filter(({ row }) => row === name);
    const perplexities = own.flatMap(({ logPerplexity }) => logPerplexity ?? []);
    return [
      name,
      rangeText(own.flatMap(({ firstGradNorm }) => firstGradNorm ?? [])),
      rangeText(perplexities.map(({ first }) => first)),
      rangeText(perplexities.map(({ last }) => last)),
    ];
  });
  const header = ['row', 'gradient norm, first update', 'nats per written token, first step', 'last step'];
  return markdownTable(header, lines);
}

/** The mean, and the least and the greatest value: `3.24 (2.97 to 3.51)`. */
function rangeText(values: readonly number[]): string {
  if (values.length === 0) return '';
  return `${mean(values).toFixed(2)} (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)})`;
}
