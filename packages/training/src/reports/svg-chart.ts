/** Curves as a standalone SVG that is legible on light and on dark backgrounds. */

/** A single value at a step, drawn as a dot; the legend shows the value. */
export interface Marker {
  name: string;
  step: number;
  value: number;
  /** Drawn as a line through the dot. */
  interval?: readonly [low: number, high: number] | undefined;
}

/** Values over steps. */
export interface Curve {
  name: string;
  points: readonly (readonly [step: number, value: number])[];
}

export interface SvgChartOptions {
  title: string;
  /** Text along the value axis. */
  valueLabel: string;
  /** Text along the other axis. Default `training step`, of which the marks are whole numbers. */
  stepLabel?: string;
  curves: readonly Curve[];
  markers?: readonly Marker[];
  /** Of the curves, then of the markers, again from the first after the last. Default: {@link chartColors}. */
  colors?: readonly string[];
}

/** Each colour has a contrast of 3:1 or more (WCAG 2.2, 1.4.11) to white and to #0d1117. */
export const chartColors = {
  ink: '#768390',
  series: ['#3b82f6', '#d9660b', '#2e9e49', '#c457c9'],
} as const;

const size = { width: 720, height: 400 };
const plotArea = { left: 64, right: 700, top: 78, bottom: 344 };
/** Height of a row of the legend. */
const legendRow = 20;

/** Charts in two columns, as one SVG document with a title. */
export function svgCharts(title: string, charts: readonly SvgChartOptions[]): string {
  const [width, height] = [2 * size.width, 40 + Math.ceil(charts.length / 2) * size.height];
  const placed = charts.map((chart, index) => {
    const [x, y] = [(index % 2) * size.width, 40 + Math.floor(index / 2) * size.height];
    // A chart with a long legend is drawn smaller.
    const placed = `<svg x="${x}" y="${y}" height="${size.height}" `;
    return svgChart(chart).replace(/<svg (.*?)height="\d+" /, (_, rest) => placed + rest);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" fill="${chartColors.ink}">`,
    `<title>${escapeXml(title)}</title>`,
    `<text x="${plotArea.left}" y="30" font-size="18" font-weight="600">${escapeXml(title)}</text>`,
    ...placed,
    '</svg>',
    '',
  ].join('\n');
}

/** A whole SVG document. The value axis covers all curves and markers, from 0 or below. */
export function svgChart({
  title,
  valueLabel,
  stepLabel,
  curves,
  markers = [],
  colors = chartColors.series,
}: SvgChartOptions): string {
  const points = [
    ...curves.flatMap((curve) => curve.points),
    ...markers.map(({ step, value }) => [step, value] as const),
  ];
  const steps = scale(
    points.map(([step]) => step),
    [plotArea.left, plotArea.right],
    8,
  );
  const ends = markers.flatMap(({ interval = [] }) => [...interval]);
  const values = scale([0, ...points.map(([, value]) => value), ...ends], [plotArea.bottom, plotArea.top], 5);
  const color = (index: number) => colors[index % colors.length]!;
  const { signs, rows } = legend(
    curves.map(({ name }) => name),
    markers.map(({ name, value }) => `${name}: ${value.toFixed(3)}`),
    color,
  );
  const below = (rows - 1) * legendRow;
  const height = size.height + below;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${height}" width="${size.width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="${chartColors.ink}">`,
    `<title>${escapeXml(title)}</title>`,
    `<text x="${plotArea.left}" y="26" font-size="16" font-weight="600">${escapeXml(title)}</text>`,
    ...signs,
    ...(below > 0 ? [`<g transform="translate(0 ${below})">`] : []),
    ...valueAxis(values, valueLabel),
    ...stepAxis(steps, stepLabel),
    ...curves.map(({ points: line }, index) => {
      // A line of one point would not be seen.
      const [only, ...others] = line;
      if (only && others.length === 0)
        return `<circle cx="${round(steps.at(only[0]))}" cy="${round(values.at(only[1]))}" r="3" fill="${color(index)}"/>`;
      const path = line
        .map(([step, value]) => `${round(steps.at(step))},${round(values.at(value))}`)
        .join(' ');
      return `<polyline points="${path}" fill="none" stroke="${color(index)}" stroke-width="2" stroke-linejoin="round"/>`;
    }),
    ...markers.map(({ step, value, interval }, index) => {
      const [x, y] = [round(steps.at(step)), round(values.at(value))];
      const fill = color(curves.length + index);
      const [low, high] = interval?.map((end) => round(values.at(end))) ?? [];
      const line = interval
        ? `<line x1="${x}" x2="${x}" y1="${low}" y2="${high}" stroke="${fill}" stroke-width="2"/>`
        : '';
      return `${line}<circle cx="${x}" cy="${y}" r="5" fill="${fill}"/>`;
    }),
    ...(below > 0 ? ['</g>'] : []),
    '</svg>',
    '',
  ].join('\n');
}

interface Scale {
  ticks: number[];
  digits: number;
  /** The pixel of a value. */
  at(value: number): number;
}

/** A linear scale over round numbers, with about `count` ticks. */
function scale(values: readonly number[], [from, to]: readonly [number, number], count: number): Scale {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const rough = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough)! * power;
  const [first, last] = [
    Math.floor(low / step),
    Math.max(Math.ceil(high / step), Math.floor(low / step) + 1),
  ];
  return {
    ticks: Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step),
    digits: Math.max(0, -Math.floor(Math.log10(step))),
    at: (value) => from + ((value / step - first) / (last - first)) * (to - from),
  };
}

function valueAxis({ ticks, digits, at }: Scale, label: string): string[] {
  const { left, right, top, bottom } = plotArea;
  const middle = (top + bottom) / 2;
  const lines = ticks.map((tick) => {
    const y = round(at(tick));
    const grid = `<line x1="${left}" x2="${right}" y1="${y}" y2="${y}" stroke="${chartColors.ink}" stroke-opacity="0.25"/>`;
    return `${grid}<text x="${left - 8}" y="${y + 4}" text-anchor="end">${tick.toFixed(digits)}</text>`;
  });
  return [
    ...lines,
    `<text x="18" y="${middle}" text-anchor="middle" transform="rotate(-90 18 ${middle})">${escapeXml(label)}</text>`,
  ];
}

function stepAxis({ ticks, digits, at }: Scale, label: string | undefined): string[] {
  const { left, right, bottom } = plotArea;
  const shown = label === undefined ? ticks.filter(Number.isInteger) : ticks;
  return [
    `<line x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}" stroke="${chartColors.ink}"/>`,
    ...shown.map(
      (tick) =>
        `<text x="${round(at(tick))}" y="${bottom + 20}" text-anchor="middle">${label === undefined ? tick : tick.toFixed(digits)}</text>`,
    ),
    `<text x="${(left + right) / 2}" y="${bottom + 42}" text-anchor="middle">${escapeXml(label ?? 'training step')}</text>`,
  ];
}

/** Lines for the curves, dots for the markers, in as many rows as their names need. */
function legend(
  curves: readonly string[],
  markers: readonly string[],
  color: (index: number) => string,
): { signs: string[]; rows: number } {
  let [x, y] = [plotArea.left, 50];
  const signs = [...curves, ...markers].map((name, index) => {
    const width = 25 + 7 * name.length;
    if (x + width > plotArea.right && x > plotArea.left) [x, y] = [plotArea.left, y + legendRow];
    const sign =
      index < curves.length
        ? `<line x1="${x}" x2="${x + 18}" y1="${y}" y2="${y}" stroke="${color(index)}" stroke-width="3"/>`
        : `<circle cx="${x + 9}" cy="${y}" r="5" fill="${color(index)}"/>`;
    const text = `<text x="${x + 25}" y="${y + 4}">${escapeXml(name)}</text>`;
    x += width + 24;
    return sign + text;
  });
  return { signs, rows: 1 + (y - 50) / legendRow };
}

function round(pixel: number): number {
  return Math.round(pixel * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
