/** priceCurve: exact match over searches, of the rows that are trained at several prices and of some others, as SVG for light and dark backgrounds. */

import type { Result } from '../leaderboard/results.ts';
import type { Study } from '../leaderboard/study.ts';
import { mean } from '../shared/intervals.ts';
import { ours } from './page.ts';
import { nameAt } from './study.ts';
import { measuredPrices } from './utility.ts';

const [left, top, width, height] = [60, 12, 420, 260];
const ink = '#768390';

/** Points that lie on each other can still be told apart by their size and shape. */
const marks = {
  dot: (x: number, y: number) => `<circle cx="${x}" cy="${y}" r="4" fill="currentColor"/>`,
  ring: (x: number, y: number) => `<circle cx="${x}" cy="${y}" r="10" fill="none"/>`,
  square: (x: number, y: number) => `<rect x="${x - 6}" y="${y - 6}" width="12" height="12" fill="none"/>`,
  diamond: (x: number, y: number) => `<path d="M${x} ${y - 9}l9 9l-9 9l-9 -9z" fill="none"/>`,
  cross: (x: number, y: number) => `<path d="M${x - 6} ${y - 6}l12 12m0 -12l-12 12"/>`,
} as const;

interface Line {
  row: string;
  mark: keyof typeof marks;
  colour: string;
}

const lines: readonly Line[] = [
  { row: 'Demonstrator', mark: 'ring', colour: ink },
  { row: 'Start', mark: 'cross', colour: ink },
  { row: 'Best of 8', mark: 'square', colour: '#d9660b' },
  { row: 'All right answers', mark: 'diamond', colour: '#d9660b' },
  { row: ours, mark: 'dot', colour: '#3b82f6' },
];

export function priceCurve(study: Study, results: readonly Result[]): string {
  const x = (searches: number) => round(left + (width * searches) / 2.2);
  const y = (em: number) => round(top + height * (1 - (em - 0.4) / 0.65));
  const grid = [
    ...[0.4, 0.6, 0.8, 1].map(
      (em) =>
        `<path d="M${left} ${y(em)}h${width}" stroke="${ink}" stroke-opacity="0.4"/>` +
        `<text x="${left - 8}" y="${y(em) + 4}" text-anchor="end">${em}</text>`,
    ),
    ...[0, 0.5, 1, 1.5, 2].map(
      (searches) =>
        `<text x="${x(searches)}" y="${top + height + 20}" text-anchor="middle">${searches}</text>`,
    ),
    `<text x="${left + width / 2}" y="${top + height + 40}" text-anchor="middle">searches for a claim</text>`,
    `<text x="${left}" y="${top - 1}" text-anchor="middle">EM</text>`,
  ];
  const drawn = lines.map(({ row, mark, colour }, index) => {
    const points = measuredPrices(study, results).flatMap((price) => {
      const point = pointOf(study, results, nameAt(row, price));
      return point ? [{ price, x: x(point.searches), y: y(point.em) }] : [];
    });
    const path = points.toSorted((a, b) => a.x - b.x).map((point) => `${point.x} ${point.y}`);
    const legend = { x: left + width + 24, y: top + 20 + index * 28 };
    return [
      `<g color="${colour}" stroke="${colour}" stroke-width="2">`,
      ...(row === ours ? [`<path d="M${path.join('L')}" fill="none" stroke-width="1"/>`] : []),
      ...[...points, legend].map((point) => marks[mark](point.x, point.y)),
      '</g>',
      `<text x="${legend.x + 18}" y="${legend.y + 4}">${row}</text>`,
      ...(row === ours
        ? points.map((point) => `<text x="${point.x + 12}" y="${point.y + 20}">${point.price}</text>`)
        : []),
    ].join('');
  });
  const [w, h] = [left + width + 220, top + height + 52];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="${ink}">`,
    '<title>Mean exact match over mean searches, with the price of a search beside the points of GRPO</title>',
    ...grid,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

/** Means over the worlds and the sorts of claims. */
function pointOf(
  { scoredOn }: Study,
  results: readonly Result[],
  row: string,
): { em: number; searches: number } | undefined {
  const scores = results
    .filter((result) => result.row === row)
    .flatMap((result) => scoredOn.map((name) => result.scores[name]!));
  if (scores.length === 0) return undefined;
  return {
    em: mean(scores.map(({ em }) => em)),
    searches: mean(scores.map(({ searches }) => searches ?? 0)),
  };
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}
