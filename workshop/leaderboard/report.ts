/** The table as Markdown, and as a chart of the mean exact match of each row. */
import { datasets } from './datasets.ts';
import { findings } from './findings.ts';
import { type Row, spreadText } from './summary.ts';

export function markdown(
  rows: readonly Row[],
  setting: { steps: number; count: number; seeds: number },
): string {
  const columns = [...datasets, 'average'] as const;
  const header = ['agent', ...columns.flatMap((name) => [`${name} EM`, `${name} F1`])];
  const lines = rows.map(({ name, scores }) => [
    name,
    ...columns.flatMap((column) => [spreadText(scores[column].em), spreadText(scores[column].f1)]),
  ]);
  const table = [header, header.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
  const prompts = rows
    .filter(({ prompts }) => prompts.length > 0)
    .map(({ name, prompts }) => `- ${name}: ${[...new Set(prompts)].join('; ')}.`);
  return `# Agents on synthetic worlds

Exact match (EM) and F1 of greedy answers to ${setting.count} test questions of each dataset. Each figure is the mean ± the standard deviation
over ${setting.seeds} seeds, each with its own world. Agents learned from ${setting.steps} rollouts of bridge and comparison questions. Compose questions are not in
the training. All rows have the same model, search index and questions. \`npm run leaderboard\` makes this page.

${table}

![Mean exact match of each row](table.svg)

The prompt of each baseline is the best of three on validation questions, chosen for each seed:

${prompts.join('\n')}

## Findings

A difference is "beyond the spread" if the intervals of one standard deviation around the two means do not overlap.

${findings(rows)}

The action mask removes the environment's tokens from the loss. The advantage mask removes them from returns and advantages. Either mask
does nearly the same work as both:

- Without the advantage mask, the environment's tokens get advantages, but the loss ignores them. GRPO has the same advantage along an
  episode, so its updates are equal to the last bit.
- Without the action mask, the environment's tokens are in the loss, but their advantage is 0. They only count in the loss's averages
  and in the KL penalty, if there is one.
- Without both masks, the policy learns to write what the search engine returns.
`;
}

const barHeight = 18;
const gap = 8;
const left = 220;
const width = 420;

/** Bars of the average exact match, with whiskers of one standard deviation. */
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
