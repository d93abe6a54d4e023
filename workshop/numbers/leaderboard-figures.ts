/** What pages show of docs/benchmarks/leaderboard.jsonl: differences between rows, in average exact match. */
import { comparisonWith } from '../../studies/leaderboard/comparisons.ts';
import type { Result } from '../../studies/leaderboard/results.ts';
import { resultsOf } from '../../studies/leaderboard/results.ts';
import { studies } from '../../studies/leaderboard/studies.ts';
import type { Study } from '../../studies/leaderboard/study.ts';
import { difference, type RowSummary, summarise } from '../../studies/leaderboard/summary.ts';
import { minusImitation, othersMinusImitation } from '../../studies/price/page.ts';
import { differenceText, direction } from '../../studies/shared/intervals.ts';

const worlds = [1, 2, 3, 4, 5];

export function leaderboardFigures(known: readonly Result[]): [name: string, text: string][] {
  const { table, masks, budget, price } = studies;
  const compared = (study: Study, name: string) => comparisonWith(study, rowsOf(study, known), name);
  return [
    ['table.grpo-minus-sft', differenceOf(table, 'GRPO', 'SFT on demonstrations', known)],
    ['table.grpo-minus-rejection', differenceOf(table, 'GRPO', 'Rejection sampling', known)],
    ['table.grpo-minus-supervised', differenceOf(table, 'GRPO', 'Best supervised phase', known)],
    ['table.against-sft', compared(table, 'SFT on demonstrations')],
    ['table.against-grpo', compared(table, 'GRPO')],
    ['budget.em', ranked(budget, known)],
    ['budget.against-grpo', compared(budget, 'GRPO')],
    ['price.grpo-minus-imitation', minusImitation(price, lastResultsOf(price, known))],
    ['price.others-minus-imitation', othersMinusImitation(price, lastResultsOf(price, known))],
    ['masks.ppo.action', differenceOf(masks, 'PPO', 'PPO without action mask', known)],
    ['masks.ppo.advantage', differenceOf(masks, 'PPO', 'PPO without advantage mask', known)],
    ['masks.grpo.action', differenceOf(masks, 'GRPO', 'GRPO without action mask', known)],
  ];
}

function rowsOf(study: Study, known: readonly Result[]): RowSummary[] {
  return summarise(study, lastResultsOf(study, known));
}

/** The mean exact match of each agent, the best first. */
function ranked(study: Study, known: readonly Result[]): string {
  const agents = rowsOf(study, known).filter(({ steps }) => steps !== undefined);
  const sorted = agents.toSorted((a, b) => b.average.em.mean - a.average.em.mean);
  return sorted.map(({ name, average }) => `${name} ${average.em.mean.toFixed(3)}`).join(', ');
}

/** `row` minus `reference`, in the worlds of both. */
function differenceOf(study: Study, row: string, reference: string, known: readonly Result[]): string {
  const rows = rowsOf(study, known);
  const [one, other] = [row, reference].map((name) => rows.find((each) => each.name === name));
  const estimate = one && other && difference(one, other);
  if (!estimate) return 'not measured';
  return `${differenceText(estimate)}${direction(estimate) === 0 ? ', an interval that includes 0' : ''}`;
}

/** The results of runs that began with the policy that the study began with last. */
export function lastResultsOf(study: Study, known: readonly Result[], seeds = worlds): Result[] {
  const last = known.findLast((result) => result.study === study.name);
  if (!last) return [];
  const { policy, count } = last;
  return resultsOf(study, seeds, { policy, count }, known);
}
