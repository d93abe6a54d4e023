/** The tables of a study in which searches have a price: utility is the exact match minus the price of the searches. */
import { comparisons, differenceTable } from './comparisons.ts';
import { examinationsOf, type Score } from './datasets.ts';
import { estimateText } from './intervals.ts';
import { markdownTable } from './markdown-table.ts';
import type { Result } from './results.ts';
import type { Study } from './studies.ts';
import { mean, type RowSummary, summarise } from './summary.ts';

/** Which answers are scored. */
type Decoding = 'scores' | 'sampled';

/** The results with utility in place of exact match. */
export function utilities(study: Study, results: readonly Result[], decoding: Decoding = 'scores'): Result[] {
  return results.flatMap((result) => {
    const scores = result[decoding];
    if (!scores) return [];
    const entries = examinationsOf(study).map(({ name, price = 0 }): [string, Score] => {
      const { em, searches = 0, ...rest } = scores[name]!;
      return [name, { ...rest, searches, em: em - price * searches }];
    });
    return [{ ...result, scores: Object.fromEntries(entries) }];
  });
}

/** The tables of the page. */
export function priceSections(study: Study, results: readonly Result[]): string {
  const greedy = summarise(study, utilities(study, results));
  return [
    `![Mean utility of each row](${study.name}.svg)`,
    utilityTable(study, greedy, summarise(study, utilities(study, results, 'sampled'))),
    '## Right answers and searches',
    'Exact match / searches of greedy answers at each price, over all sorts of questions.',
    conductTable(study, results),
    '## Differences',
    'Differences in the average utility of greedy answers, paired by world, with 95 % intervals.',
    differenceTable(study, greedy),
    comparisons(study, greedy),
  ].join('\n\n');
}

function utilityTable(study: Study, greedy: readonly RowSummary[], sampled: readonly RowSummary[]): string {
  const prices = study.prices!;
  const header = ['row', 'utility', 'of sampled answers', ...prices.map((price) => `at ${price}`)];
  const lines = greedy.map((row) => [
    row.name,
    estimateText(row.average.em, -Infinity),
    averageText(sampled, row.name),
    ...prices.map((price) => mean(at(study, price).map((name) => row.em[name]!.mean)).toFixed(3)),
  ]);
  return markdownTable(header, lines);
}

function conductTable(study: Study, results: readonly Result[]): string {
  const prices = study.prices!;
  const lines = study.rows.flatMap((row) => {
    const own = results.filter((result) => result.row === row.name);
    if (own.length === 0) return [];
    const cells = prices.map((price) => {
      const scores = own.flatMap((result) => at(study, price).map((name) => result.scores[name]!));
      const searches = mean(scores.map((score) => score.searches ?? 0));
      return `${mean(scores.map(({ em }) => em)).toFixed(3)} / ${searches.toFixed(2)}`;
    });
    return [[row.name, ...cells]];
  });
  return markdownTable(['row', ...prices.map((price) => `at ${price}`)], lines);
}

/** Names of the examinations at a price. */
function at(study: Study, price: number): string[] {
  return examinationsOf(study).flatMap((each) => (each.price === price ? [each.name] : []));
}

function averageText(rows: readonly RowSummary[], name: string): string {
  const row = rows.find((each) => each.name === name);
  return row ? estimateText(row.average.em, -Infinity) : '';
}
