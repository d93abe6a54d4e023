/** The table for people: Markdown, and a chart of the mean exact match of each row. */

import { type Dataset, datasets, type Score } from './datasets.ts';
import { agents, baselines } from './entries.ts';
import { findings } from './findings.ts';
import type { Result } from './results.ts';

/** Mean and unbiased standard deviation over seeds. */
export interface Spread {
  mean: number;
  deviation: number;
}

export interface Row {
  name: string;
  seeds: number[];
  /** By dataset, and over all of them. */
  scores: Record<Dataset | 'average', { em: Spread; f1: Spread }>;
  prompts: string[];
}

/** The rows that have results, in the table's order. */
export function summarise(results: readonly Result[]): Row[] {
  return [...baselines, ...agents].flatMap(({ name }) => {
    const own = results.filter(({ row }) => row === name);
    if (own.length === 0) return [];
    const of = (read: (scores: Record<string, Score>) => Score) => {
      const scores = own.map((result) => read(result.scores));
      return { em: spread(scores.map(({ em }) => em)), f1: spread(scores.map(({ f1 }) => f1)) };
    };
    const each = datasets.map((name) => [name, of((scores) => scores[name]!)] as const);
    const scores = { ...Object.fromEntries(each), average: of(averageScore) } as Row['scores'];
    const prompts = own.flatMap(({ prompt }) => prompt ?? []);
    return [{ name, seeds: own.map(({ seed }) => seed), scores, prompts }];
  });
}

function averageScore(scores: Record<string, Score>): Score {
  const all = datasets.map((name) => scores[name]!);
  const mean = (read: (score: Score) => number) =>
    all.reduce((sum, score) => sum + read(score), 0) / all.length;
  return { em: mean(({ em }) => em), f1: mean(({ f1 }) => f1) };
}

function spread(values: readonly number[]): Spread {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (values.length === 1) return { mean, deviation: 0 };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, deviation: Math.sqrt(variance) };
}

export function markdown(
  rows: readonly Row[],
  setting: { steps: number; count: number; seeds: number },
): string {
  const columns = [...datasets, 'average'] as const;
  const header = ['agent', ...columns.flatMap((name) => [`${name} EM`, `${name} F1`])];
  const cell = ({ mean, deviation }: Spread) => `${mean.toFixed(3)} ± ${deviation.toFixed(3)}`;
  const lines = rows.map(({ name, scores }) => [
    name,
    ...columns.flatMap((column) => [cell(scores[column].em), cell(scores[column].f1)]),
  ]);
  const table = [header, header.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
  const prompts = rows
    .filter(({ prompts }) => prompts.length > 0)
    .map(({ name, prompts }) => `- ${name}: ${[...new Set(prompts)].join('; ')}.`);
  return `# Agents on synthetic worlds

Exact match and F1 on ${setting.count} test questions of each dataset, greedy; mean ± standard deviation over ${setting.seeds} seeds, each a world
of its own. Agents learned from ${setting.steps} rollouts of bridge and comparison questions and never saw compose questions. All rows are
the same model, search index and questions. Made by \`npm run table\`.

${table}

![Mean exact match of each row](table.svg)

The prompts of the baselines are the best of three on validation questions:

${prompts.join('\n')}

## What it shows

Beyond the spread means that the intervals of one standard deviation around the means do not meet.

${findings(rows)}

The action mask keeps tokens that the environment wrote out of the loss; the advantage mask keeps them out of returns and advantages.
Either one nearly does the work of the other. Without the advantage mask, the tokens of the environment are given advantages, but the
loss does not look at them: for GRPO, whose advantage is the same along an episode, not a bit of any update changes. Without the action
mask, the loss looks at those tokens, but their advantage is 0: what changes is that they count in the loss's averages, and that the
KL penalty is taken there too, where there is one. Only without both does the policy learn to say what the search engine says.
`;
}

const barHeight = 18;
const gap = 8;
const left = 220;
const width = 420;

/** Bars of the average exact match, with a whisker of one standard deviation to each side. */
export function barChart(rows: readonly Row[]): string {
  const height = rows.length * (barHeight + gap) + 40;
  const x = (value: number) => left + width * Math.min(1, Math.max(0, value));
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<line x1="${x(value)}" y1="8" x2="${x(value)}" y2="${height - 28}" stroke="#ddd"/>` +
      `<text x="${x(value)}" y="${height - 12}" text-anchor="middle">${value}</text>`,
  );
  const bars = rows.map(({ name, scores }, index) => {
    const { mean, deviation } = scores.average.em;
    const y = 12 + index * (barHeight + gap);
    const middle = y + barHeight / 2;
    return (
      `<text x="${left - 8}" y="${middle + 4}" text-anchor="end">${name}</text>` +
      `<rect x="${left}" y="${y}" width="${(x(mean) - left).toFixed(1)}" height="${barHeight}" fill="#4477aa"/>` +
      `<line x1="${x(mean - deviation).toFixed(1)}" y1="${middle}" x2="${x(mean + deviation).toFixed(1)}" y2="${middle}" stroke="#222"/>` +
      `<text x="${(x(mean + deviation) + 6).toFixed(1)}" y="${middle + 4}">${mean.toFixed(3)}</text>`
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + width + 60}" height="${height}" font-family="sans-serif" font-size="12">`,
    '<title>Mean exact match over the three datasets</title>',
    ...ticks,
    ...bars,
    '</svg>\n',
  ].join('\n');
}
