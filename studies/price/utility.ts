/** The page of the study in which a search has a price: utility is the exact match minus the price of the searches. */
import { differenceTable } from '../leaderboard/comparisons.ts';
import type { Score } from '../leaderboard/datasets.ts';
import type { Result } from '../leaderboard/results.ts';
import type { Row, Study } from '../leaderboard/study.ts';
import { type RowSummary, summarise } from '../leaderboard/summary.ts';
import { estimateText, mean } from '../shared/intervals.ts';
import { markdownTable } from '../shared/markdown-table.ts';

type Scores = Readonly<Record<string, Score>>;
/** Which answers are scored. */
export type Decoding = 'scores' | 'sampled';

/** The sections of the page, one for each price. */
export function priceSections(study: Study, results: readonly Result[]): string {
  const prices = measuredPrices(study, results);
  const curve = `![Exact match over searches at each price](${study.name}-curve.svg)`;
  const caption =
    'Means of greedy answers. The number beside a point is the price at which GRPO was trained.';
  return [curve, caption, ...prices.map((price) => priceSection(study, results, price))].join('\n\n');
}

/** The first price, and the others at which an agent was trained. */
export function measuredPrices({ prices, rows }: Study, results: readonly Result[]): number[] {
  const [first, ...others] = prices!;
  const trained = rows.filter((row) => 'trainer' in row && results.some((result) => result.row === row.name));
  return [first!, ...others.filter((price) => trained.some((row) => row.price === price))];
}

function priceSection(study: Study, results: readonly Result[], price: number): string {
  const part = comparedAt(study, price);
  const greedy = rowsAt(study, results, price);
  return [
    `## At ${price} for each search`,
    ...(price === study.prices![0] ? [`![Mean utility of each row](${study.name}.svg)`] : []),
    utilityTable(part, results, price),
    'Differences in utility, paired by world:',
    differenceTable(part, greedy),
  ].join('\n\n');
}

/** The rows that are compared at a price, with utility in place of exact match. */
export function rowsAt(
  study: Study,
  results: readonly Result[],
  price: number,
  decoding: Decoding = 'scores',
): RowSummary[] {
  return summarise(comparedAt(study, price), atPrice(results, price, decoding));
}

function comparedAt(study: Study, price: number): Study {
  return { ...study, rows: study.rows.filter((row) => isComparedAt(row, price)) };
}

/** Rows that know another price are no competitors at this price. */
function isComparedAt(row: Row, price: number): boolean {
  return row.price === undefined || row.price === 0 || row.price === price;
}

/** The results with utility in place of exact match. */
function atPrice(results: readonly Result[], price: number, decoding: Decoding): Result[] {
  return results.flatMap((result) => {
    const scores = result[decoding];
    return scores ? [{ ...result, scores: utilities(scores, price) }] : [];
  });
}

function utilities(scores: Scores, price: number): Record<string, Score> {
  const ofScore = ({ em, searches = 0, ...rest }: Score) => ({
    ...rest,
    searches,
    em: em - price * searches,
  });
  return Object.fromEntries(Object.entries(scores).map(([name, score]) => [name, ofScore(score)]));
}

function utilityTable(study: Study, results: readonly Result[], price: number): string {
  const { scoredOn } = study;
  const rows = rowsAt(study, results, price);
  const sampled = rowsAt(study, results, price, 'sampled');
  const header = [
    'row',
    'utility',
    'utility of sampled answers',
    ...scoredOn.flatMap((name) => [`${name} EM`, 'searches']),
  ];
  const lines = rows.map((row) => [
    row.name,
    estimateText(row.average.em, -Infinity),
    averageText(sampled, row.name),
    ...scoredOn.flatMap((name) => {
      const own = results.filter((result) => result.row === row.name).map(({ scores }) => scores[name]!);
      const searches = mean(own.map((score) => score.searches ?? 0));
      return [mean(own.map(({ em }) => em)).toFixed(3), searches.toFixed(2)];
    }),
  ]);
  return markdownTable(header, lines);
}

function averageText(rows: readonly RowSummary[], name: string): string {
  const row = rows.find((each) => each.name === name);
  return row ? estimateText(row.average.em, -Infinity) : '';
}
