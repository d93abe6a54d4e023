/** Curves as text. Each curve has its own panel, one below the other, so that the chart needs no colours. */

import type { Curve } from '@toolenv/training/reports';
import { type PlotConfig, plot } from 'asciichart';

export interface TerminalChartOptions {
  /** Columns in all. Default 80. */
  width?: number;
  /** Rows of each panel. Default 7. */
  height?: number;
  /** Panels that stand side by side. Default 1. */
  perRow?: number;
}

/** Columns left of the curve: the values and the axis. */
const margin = 8;

/** The largest value that is drawn. */
const most = Number.MAX_VALUE / 2;

/** The symbols of asciichart, except that the axis looks the same in every row. */
const symbols: PlotConfig['symbols'] = ['┤', '┤', '╶', '╴', '─', '╰', '╭', '╮', '╯', '│'];

/** The value axis begins at 0, or below if the curve does. */
export function terminalChart(
  curves: readonly Curve[],
  { width = 80, height = 7, perRow = 1 }: TerminalChartOptions = {},
): string {
  const drawn = curves.filter(({ points }) => points.length > 0);
  const each = Math.floor(width / perRow);
  const panels = drawn.map((curve) => panel(curve, each - margin - (perRow > 1 ? 1 : 0), height).split('\n'));
  const rows = Array.from({ length: Math.ceil(panels.length / perRow) }, (_, row) =>
    panels.slice(row * perRow, (row + 1) * perRow),
  );
  return rows.map((row) => sideBySide(row, each)).join('\n\n');
}

/** All panels have the same number of lines. */
function sideBySide(panels: readonly string[][], width: number): string {
  const lines = panels[0]!.map((_, index) => panels.map((panel) => panel[index]!.padEnd(width)).join(''));
  return lines.map((line) => line.trimEnd()).join('\n');
}

function panel({ name, points }: Curve, width: number, height: number): string {
  // The span of an axis is a number too.
  const values = points.map(([, value]) => Math.max(-most, Math.min(most, value)));
  const min = Math.min(0, ...values);
  const highest = Math.max(...values);
  const max = highest > min ? highest : min + 1;
  const digits = digitsOf(max - min, min < 0);
  const label = (value: number) => {
    const text = value.toFixed(digits);
    return `${(text.length > margin - 2 ? value.toExponential(0) : text).padStart(margin - 2)} `;
  };
  // asciichart's offset counts the label as one cell, and the axis as one.
  const body = plot(resample(values, width), {
    height: height - 1,
    offset: 2,
    min,
    max,
    format: label,
    symbols,
  });
  const lines = body.split('\n').map((line) => line.trimEnd());
  return [`${' '.repeat(margin)}${name}`, ...lines, ...stepAxis(points, width)].join('\n');
}

/** Decimals that tell the labels of an axis apart and fit its margin. */
function digitsOf(span: number, hasSign: boolean): number {
  if (span >= 100) return 0;
  return span >= 0.05 ? 2 : hasSign ? 3 : 4;
}

/** The first, middle and last step under the curve. */
function stepAxis(points: Curve['points'], width: number): string[] {
  const indent = ' '.repeat(margin - 1);
  const at = (fraction: number) => String(points[Math.round(fraction * (points.length - 1))]![0]);
  const [first, middle, last] = [at(0), at(0.5), `step ${at(1)}`];
  const center = Math.floor((width - middle.length) / 2);
  const few = points.length < 3;
  const labels = few ? first : first.padEnd(center) + middle;
  return [`${indent}└${'─'.repeat(width)}`, `${indent} ${labels.padEnd(width - last.length)}${last}`];
}

/** One value for each column: means if there are more values than columns, straight lines if there are fewer. */
function resample(values: readonly number[], width: number): number[] {
  const { length } = values;
  return Array.from({ length: width }, (_, column) => {
    if (length > width) {
      const from = Math.floor((column * length) / width);
      const to = Math.floor(((column + 1) * length) / width);
      const bucket = values.slice(from, to);
      return bucket.reduce((sum, value) => sum + value / bucket.length, 0);
    }
    const place = (column * (length - 1)) / (width - 1);
    const [low, share] = [Math.floor(place), place % 1];
    return values[low]! * (1 - share) + (values[low + 1] ?? values[low]!) * share;
  });
}
