/** figureOf: an episode before and after training, beside the score of training episodes, as an SVG. */
import { svgChart } from '@toolenv/training/reports';
import { chartColors } from '../../packages/training/src/reports/svg-chart.ts';
import { episodeSvg, type Line } from '../../workshop/gallery/episode-svg.ts';
import { mean } from '../shared/intervals.ts';
import { type Result, scoresOf } from './results.ts';

/** Beside the page. */
export function figureFile(name: string): string {
  return `real-model-${name}.svg`;
}

/** Rows of the chart. */
const drawn = ['Rejection sampling', 'GRPO with shuffled rewards', 'GRPO'];

/** The figure of an environment, if it has rows to draw. */
export function figureOf(name: string, results: readonly Result[]): string | undefined {
  const chart = chartOf(name, results);
  const [task] = solvedByGrpo(results.filter(({ environment }) => environment === name));
  if (!chart || !task) return chart;
  const [before, after] = [
    episodeSvg('Before training', task.before),
    episodeSvg('After training', task.after),
  ];
  const [first, second] = [before, after].map((svg) => sizeOf(svg)) as [Size, Size];
  const { width: chartWidth, height: chartHeight } = sizeOf(chart);
  const [left, gap] = [Math.max(first.width, second.width), 24];
  const heading = (y: number, text: string) => `<text x="12" y="${y}" font-weight="600">${text}</text>`;
  const at = (svg: string, x: number, y: number) => svg.replace('<svg ', `<svg x="${x}" y="${y}" `);
  const [width, height] = [
    left + gap + chartWidth,
    Math.max(2 * gap + first.height + gap + second.height, chartHeight),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="14" fill="${chartColors.ink}">`,
    `<title>${name}: a test task before and after training, and the scores of training</title>`,
    heading(gap - 7, 'before'),
    at(before, 0, gap),
    heading(2 * gap + first.height - 7, 'after'),
    at(after, 0, 2 * gap + first.height),
    at(chart, left + gap, 0),
    '</svg>',
    '',
  ].join('\n');
}

interface Size {
  width: number;
  height: number;
}

function sizeOf(svg: string): Size {
  const [, width, height] = / width="(\d+)" height="(\d+)"/.exec(svg)!;
  return { width: Number(width), height: Number(height) };
}

/** The chart of an environment, if it has rows to draw: the mean score of the episodes of each step, over the seeds of a row. */
export function chartOf(name: string, results: readonly Result[]): string | undefined {
  const curves = drawn.flatMap((row) => {
    const own = results.filter((result) => result.environment === name && result.row === row);
    const length = own.length === 0 ? 0 : Math.min(...own.map(({ curve }) => curve.length));
    if (length === 0) return [];
    const points = Array.from(
      { length },
      (_, step) => [step + 1, mean(own.map(({ curve }) => curve[step]!))] as const,
    );
    return [{ name: row, points }];
  });
  if (curves.length === 0) return undefined;
  return svgChart({ title: `SmolLM2-135M learns ${name}`, valueLabel: 'score of training episodes', curves });
}

/** At most three tasks that the first seed of GRPO solves, and the policy that it began with does not. */
export function solvedByGrpo(results: readonly Result[]): { before: Line[]; after: Line[] }[] {
  const [start, grpo] = ['Supervised', 'GRPO'].map((row) =>
    results.find((result) => result.row === row && result.seed === 1),
  );
  if (!start || !grpo) return [];
  const [was, is] = [scoresOf(start), scoresOf(grpo)];
  const tasks = [...grpo.episodes.keys()].filter((task) => is[task] === 1 && was[task] === 0);
  return tasks.slice(0, 3).map((task) => ({ before: start.episodes[task]!, after: grpo.episodes[task]! }));
}
