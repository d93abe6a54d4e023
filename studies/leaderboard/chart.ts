/** barChart: the average exact match, or utility, of each row with its interval, as SVG for light and dark backgrounds. */
import type { Study } from './study.ts';
import type { RowSummary } from './summary.ts';

const barHeight = 18;
const gap = 8;
const left = 220;
const width = 420;
const ink = '#768390';
const fill = '#3b82f6';
const whisker = '#d9660b';

export function barChart({ scoredOn, prices }: Study, rows: readonly RowSummary[]): string {
  const height = rows.length * (barHeight + gap) + 40;
  const x = (value: number) => left + width * Math.min(1, Math.max(0, value));
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<line x1="${x(value)}" y1="8" x2="${x(value)}" y2="${height - 28}" stroke="${ink}" stroke-opacity="0.4"/>` +
      `<text x="${x(value)}" y="${height - 12}" text-anchor="middle">${value}</text>`,
  );
  const bars = rows.map(({ name, average }, index) => {
    const { mean, low, high } = average.em;
    const y = 12 + index * (barHeight + gap);
    const middle = y + barHeight / 2;
    const [from, to] = [x(low ?? mean), x(high ?? mean)];
    return (
      `<text x="${left - 8}" y="${middle + 4}" text-anchor="end">${name}</text>` +
      `<rect x="${left}" y="${y}" width="${(x(mean) - left).toFixed(1)}" height="${barHeight}" fill="${fill}"/>` +
      `<line x1="${from.toFixed(1)}" y1="${middle}" x2="${to.toFixed(1)}" y2="${middle}" stroke="${whisker}" stroke-width="2"/>` +
      `<text x="${(to + 6).toFixed(1)}" y="${middle + 4}">${mean.toFixed(3)}</text>`
    );
  });
  const measure = prices ? `utility at ${prices[0]} for each search` : 'exact match';
  const what = `Mean ${measure} over ${scoredOn.join(', ')}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + 60} ${height}" width="${left + width + 60}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="${ink}">`,
    `<title>${what}, with 95 % intervals</title>`,
    ...ticks,
    ...bars,
    '</svg>\n',
  ].join('\n');
}
