/** What pages show of docs/benchmarks/leaderboard.jsonl: differences between rows, in average exact match. */
import { differenceText, direction } from '../leaderboard/intervals.ts';
import { minusImitation } from '../leaderboard/introductions/price.ts';
import type { Result } from '../leaderboard/results.ts';
import { type Study, studies } from '../leaderboard/studies.ts';
import { resultsOf } from '../leaderboard/study-results.ts';
import { difference, summarise } from '../leaderboard/summary.ts';

const worlds = [1, 2, 3, 4, 5];

export function leaderboardFigures(known: readonly Result[]): [name: string, text: string][] {
  const { table, masks, price } = studies;
  return [
    ['table.grpo-minus-sft', differenceOf(table, 'GRPO', 'SFT on demonstrations', known)],
    ['table.grpo-minus-supervised', differenceOf(table, 'GRPO', 'Best supervised phase', known)],
    ['price.grpo-minus-imitation', minusImitation(price, lastResultsOf(price, known))],
    ['masks.ppo.action', differenceOf(masks, 'PPO', 'PPO without action mask', known)],
    ['masks.ppo.advantage', differenceOf(masks, 'PPO', 'PPO without advantage mask', known)],
    ['masks.grpo.action', differenceOf(masks, 'GRPO', 'GRPO without action mask', known)],
  ];
}

/** `row` minus `reference`, in the worlds of both. */
function differenceOf(study: Study, row: string, reference: string, known: readonly Result[]): string {
  const rows = summarise(study, lastResultsOf(study, known));
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
