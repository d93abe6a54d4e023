/** What each page says before and after its tables. */
import { differenceText, estimateText, pairedDifference } from './intervals.ts';
import { markdownTable } from './markdown-table.ts';
import type { Result } from './results.ts';
import type { Study } from './studies.ts';
import { difference as differenceOf, mean, type RowSummary } from './summary.ts';

interface Introduction {
  title: string;
  introduction: string;
  explanation: string;
}

type Introduce = (study: Study, rows: readonly RowSummary[], results: readonly Result[]) => Introduction;

const table: Introduce = (study, rows, results) => {
  const best = bestAgent(study, rows);
  return {
    title: 'Agents on synthetic worlds',
    introduction: `Exact match (EM) and F1 of greedy answers to ${countOf(results)} test questions of each dataset, as means over ${worldsOf(rows)} worlds with 95 %
intervals. All rows have the same model, search index and questions.

- **What is the ceiling?** The demonstrator knows each world and plays a good strategy with the same search tool: ${averageOf(rows, 'Demonstrator')}.
- **What did the model know before?** It learned to search in other worlds, on bridge and comparison questions, and never saw a compose question. A last
  supervised phase gave it bad habits on purpose: from ${averageOf(rows, 'Best supervised phase')} down to ${averageOf(rows, 'Base Tool Call')}, where every agent starts. So an agent must beat the row
  “Best supervised phase”, which is from another run of the recipe, to show more than it could do before.${best ? ` The best agent, ${best.name}, minus that row: ${differenceTo(rows, best, 'Best supervised phase')}.` : ''}
- **Is reinforcement learning needed?**${best ? ` ${best.name} minus supervised training on the demonstrator’s episodes: ${differenceTo(rows, best, 'SFT on demonstrations')}. Minus rejection sampling: ${differenceTo(rows, best, 'Rejection sampling')}.` : ''}
- **Does it carry over to other questions?**${best?.em.compose ? ` ${best.name} answers ${estimateText(best.em.compose)} of the compose questions, which no row trained on. Without them, an average is at most 0.667.` : ''}
- **When did training end?** After ${study.patience} evaluations on ${study.evaluationEpisodes} validation questions without a new best, one every ${study.evaluateEvery} steps, or after ${study.steps} steps. The
  weights of the best evaluation were scored; the table has their step. Each update uses ${study.tasksPerStep * study.groupSize} episodes.
- **Who chose the learning rates?** Validation questions in another world: see below. REINFORCE++, REINFORCE++-baseline and RLOO have the rate of GRPO.
- **Is it chance?** All rows played the same ${worldsOf(rows)} worlds, so differences are paired. Read the intervals below, not the order of the rows.`,
    explanation: '',
  };
};

const masks: Introduce = (study, rows, results) => ({
  title: 'What the masks are worth',
  introduction: `The action mask keeps the environment’s tokens out of the loss. The advantage mask keeps them out of returns, advantages and the critic’s loss. Each
row trains without one mask, or without both, and is otherwise equal: ${study.steps} updates of ${study.tasksPerStep * study.groupSize} episodes, the same start, the same ${worldsOf(rows)} worlds, and the settings
of [the table](table.md). PPO has γ = 1 and λ = 0.95. Scores are exact match (EM) and F1 of greedy answers to ${countOf(results)} test questions of each dataset, with 95 %
intervals.

- **What is the action mask worth?** In PPO ${worthOf(rows, 'PPO', 'PPO without action mask')} of average exact match, in GRPO ${worthOf(rows, 'GRPO', 'GRPO without action mask')}.
- **What is the advantage mask worth?** With the action mask ${worthOf(rows, 'PPO', 'PPO without advantage mask')}, without it ${worthOf(rows, 'PPO without action mask', 'PPO without both masks')}.
- **What could not show an effect?** GRPO gives every token of an episode the same advantage, so the advantage mask changes nothing, to the last bit. No row
  trained on compose questions.`,
  explanation: `## Why

${courseTable(rows, results)}

- Without the action mask, each token of a document is trained as if the policy had chosen it. These tokens are improbable for the policy, so they dominate the
  gradient: its norm in the first update is greater by ${withoutMask(results, 'PPO', gradNorm)} in PPO, and by ${withoutMask(results, 'GRPO', gradNorm)} in GRPO.
  The documents of good searches become likelier and those of bad searches less likely, without a bound, and the same weights write the policy’s turns. In the last
  step, the policy is less sure of each token than with the mask, by ${withoutMask(results, 'PPO', surprise)} nats in PPO and ${withoutMask(results, 'GRPO', surprise)} in GRPO.
- With λ below 1, credit decays over the steps of the recursion. Without the advantage mask, each token of a document is a step: over 60 tokens, only a share of
  0.95⁶⁰ = 5 % of a later reward remains, and the critic’s values replace the rest.`,
});

/** How much better a row is than the same row without a mask. */
function worthOf(rows: readonly RowSummary[], name: string, without: string): string {
  const row = rows.find((each) => each.name === name);
  return row ? differenceTo(rows, row, without) : 'not measured';
}

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

const budget: Introduce = (study, rows, results) => ({
  title: 'Learning from the same episodes',
  introduction: `Four ways to learn from ${(study.steps * study.tasksPerStep * study.groupSize).toLocaleString('en')} episodes of bridge questions, with ${study.steps} updates each, from the policy of the demo. Exact match (EM) and F1 of greedy answers
to ${countOf(results)} test questions, as means over ${worldsOf(rows)} worlds with 95 % intervals.

- Rejection sampling learns from the best of each ${study.groupSize} episodes, by supervised training.
- DPO plays all episodes with the start policy first, and learns from pairs of the best and the worst of each ${study.groupSize}.
- Online DPO makes the same pairs from episodes of the policy as it learns.
- GRPO learns from all episodes, weighed by their advantage in the group.

Each learning rate is the best of four on validation questions of another world: see below.

The demo’s policy learned to answer such questions in other worlds, before a last supervised phase gave it bad habits on purpose. So these figures compare how fast the
trainers restore a skill. They do not show what each could teach a model without that skill.`,
  explanation: '',
});

/** By name of the study. */
export const introductions: Readonly<Record<string, Introduce>> = { table, masks, budget };

/** The trained row with the greatest average, of those that play episodes of their own by an algorithm of reinforcement learning. */
function bestAgent({ references, rows: all }: Study, rows: readonly RowSummary[]): RowSummary | undefined {
  const isAgent = ({ name }: RowSummary) =>
    all.some((row) => row.name === name && 'trainer' in row && !row.trainer.includes('trainer-sft'));
  const agents = rows.filter(isAgent);
  if (agents.length === 0 || references.length === 0) return undefined;
  return agents.reduce((a, b) => (b.average.em.mean > a.average.em.mean ? b : a));
}

function averageOf(rows: readonly RowSummary[], name: string): string {
  const row = rows.find((each) => each.name === name);
  return row ? estimateText(row.average.em) : 'not measured';
}

function differenceTo(rows: readonly RowSummary[], row: RowSummary, name: string): string {
  const reference = rows.find((each) => each.name === name);
  const difference = reference && differenceOf(row, reference);
  return difference ? differenceText(difference) : 'not measured';
}

function countOf(results: readonly Result[]): string {
  return [...new Set(results.map(({ count }) => count))].join(' or ');
}

function worldsOf(rows: readonly RowSummary[]): string {
  const counts = rows.map(({ seeds }) => seeds.length);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? String(most) : `${least} to ${most}`;
}
