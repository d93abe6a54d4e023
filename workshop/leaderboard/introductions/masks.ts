/** The page of the masks. */
import { differenceText, pairedDifference } from '../intervals.ts';
import { markdownTable } from '../markdown-table.ts';
import type { Result } from '../results.ts';
import { mean, type RowSummary } from '../summary.ts';
import type { Introduce } from './introduction.ts';
import { countOf, differenceBetween, worldsOf } from './phrases.ts';

export const masks: Introduce = (study, rows, results) => ({
  title: 'What the masks are worth',
  introduction: `The action mask keeps the environment’s tokens out of the loss. The advantage mask keeps them out of returns, advantages and the critic’s loss. Each
row trains without one mask, or without both, at a learning rate of its own, and is otherwise equal: ${study.steps} updates of ${study.tasksPerStep * study.groupSize} episodes, the same start, the same ${worldsOf(rows)} worlds, and the settings
of [the table](table.md). PPO has γ = 1 and λ = 0.95. Scores are exact match (EM) and F1 of greedy answers to ${countOf(results)} test questions of each dataset, with 95 %
intervals.

- **What is the action mask worth?** In PPO ${differenceBetween(rows, 'PPO', 'PPO without action mask')} of average exact match, in GRPO ${differenceBetween(rows, 'GRPO', 'GRPO without action mask')}.
- **What is the advantage mask worth?** With the action mask ${differenceBetween(rows, 'PPO', 'PPO without advantage mask')}, without it ${differenceBetween(rows, 'PPO without action mask', 'PPO without both masks')}.
- **What could not show an effect?** GRPO gives every token of an episode the same advantage, so the advantage mask changes nothing, to the last bit.
  The rows without a mask have the best of three learning rates, below. The other rows have the rate of the table.`,
  explanation: `## Why

${courseTable(rows, results)}

- Without the action mask, each token of a document is trained as if the policy had chosen it. These tokens are improbable for the policy, so they dominate the
  gradient: its norm in the first update is greater by ${withoutMask(results, 'PPO', gradNorm)} in PPO, and by ${withoutMask(results, 'GRPO', gradNorm)} in GRPO.
  The documents of good searches become likelier and those of bad searches less likely, without a bound, and the same weights write the policy’s turns. In the last
  step, the policy is less sure of each token than with the mask, by ${withoutMask(results, 'PPO', surprise)} nats in PPO and ${withoutMask(results, 'GRPO', surprise)} in GRPO.
- Without the action mask, a lower learning rate keeps the policy from breaking, and teaches it little. At the highest of the three, the validation scores below fall to about 0;
  at the others they stay near the start, which is the row Base Tool Call of [the table](table.md).
- With λ below 1, credit decays over the steps of the recursion. Without the advantage mask, each token of a document is a step: over 60 tokens, only a share of
  0.95⁶⁰ = 5 % of a later reward remains, and the critic’s values replace the rest.`,
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
