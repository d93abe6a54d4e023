/** pageOf: the page of a study as Markdown. All its numbers and verdicts are computed from the results. */

import { budget } from '../budget/page.ts';
import { failures } from '../failures/page.ts';
import { masks } from '../masks/page.ts';
import { price } from '../price/page.ts';
import { priceSections } from '../price/utility.ts';
import { estimateText } from '../shared/intervals.ts';
import { markdownTable } from '../shared/markdown-table.ts';
import { staleness } from '../staleness/page.ts';
import { table } from '../table/page.ts';
import { comparisons, differenceTable } from './comparisons.ts';
import type { Introduce } from './introduction.ts';
import type { Result } from './results.ts';
import type { Study } from './study.ts';
import { type RowSummary, summarise } from './summary.ts';

/** By name of the study. */
const introductions: Readonly<Record<string, Introduce>> = {
  table,
  masks,
  budget,
  price,
  staleness,
  failures,
};

/** @param tuning Results of the runs that chose the learning rates. */
export function pageOf(study: Study, results: readonly Result[], tuning: readonly Result[]): string {
  const rows = summarise(study, results);
  const scores = study.prices ? priceSections(study, results) : scoreSections(study, rows);
  const { title, introduction, explanation } = introductions[study.name]!(study, rows, results);
  return `${[
    `# ${title}`,
    introduction,
    scores,
    explanation,
    rateSection(tuning),
    `\`npm run leaderboard -- --study ${study.name}\` made this page. [leaderboard.jsonl](leaderboard.jsonl) has every run with its settings and its commit.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`;
}

function scoreSections(study: Study, rows: readonly RowSummary[]): string {
  return [
    scoreTable(study, rows),
    `![Mean exact match of each row](${study.name}.svg)`,
    '## Differences',
    'In average exact match, paired by world, with 95 % intervals (Student’s t). Those that exclude 0 are bold; of twenty comparisons of equals, about one is bold.',
    differenceTable(study, rows),
    comparisons(study, rows),
  ].join('\n\n');
}

function scoreTable({ scoredOn }: Study, rows: readonly RowSummary[]): string {
  const several = scoredOn.length > 1;
  const header = [
    'row',
    ...scoredOn.map((name) => `${name} EM`),
    ...(several ? ['average EM'] : []),
    'F1',
    'steps',
  ];
  const lines = rows.map(({ name, em, average, steps }) => [
    name,
    ...scoredOn.map((dataset) => estimateText(em[dataset]!)),
    ...(several ? [estimateText(average.em)] : []),
    average.f1.mean.toFixed(3),
    steps === undefined ? '' : steps.toFixed(0),
  ]);
  return markdownTable(header, lines);
}

/** Validation scores, with a column for each learning rate that was tried. */
function rateSection(tuning: readonly Result[]): string {
  if (tuning.length === 0) return '';
  const tried = tuning.map(({ row, validation, settings }) => {
    const rate = Number(settings.learningRate);
    return { name: row.replace(` at ${rate}`, ''), rate, score: validation!.toFixed(3) };
  });
  const rates = [...new Set(tried.map(({ rate }) => rate))].sort((a, b) => a - b);
  const lines = [...new Set(tried.map(({ name }) => name))].map((name) => [
    name,
    ...rates.map((rate) => tried.find((each) => each.name === name && each.rate === rate)?.score ?? ''),
  ]);
  const steps = Math.max(...tuning.map((result) => result.steps ?? 0));
  return `## Learning rates

Exact match on validation questions after at most ${steps} steps, from one run each, in another world. Each trainer has its best rate above.

${markdownTable(['row', ...rates.map(String)], lines)}`;
}
