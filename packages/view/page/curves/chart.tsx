/** A chart of curves over training steps. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { short } from '../numbers.ts';
import { colourOf } from '../run-colours.ts';
import type { Theme } from '../theme.ts';
import type { ChartData } from './chart-data.ts';

interface Props {
  title: string;
  unit: string;
  data: ChartData;
  theme: Theme;
  /** Whether a colour is a run; else it is a curve. */
  isOfRuns: boolean;
}

const height = 210;

export function Chart({ title, unit, data, theme, isOfRuns }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shape = JSON.stringify([theme, data.curves.map(({ label, run, curve }) => [label, run, curve])]);
  const rows = (): uPlot.AlignedData => [data.steps, ...data.curves.map(({ values }) => values)];

  useEffect(() => {
    const element = place.current!;
    const style = getComputedStyle(document.documentElement);
    const [text, line] = [style.getPropertyValue('--text-soft'), style.getPropertyValue('--line')];
    const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height,
        cursor: { sync: { key: 'step' }, points: { size: 6 } },
        hooks: { setCursor: [(moved) => moved.cursor.idx ?? showLast(moved)] },
        scales: { x: { time: false }, y: { range: (_, low, high) => around(low, high) } },
        axes: [
          {
            ...axis,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
            values: (_, ticks) => ticks.map(short),
          },
          { ...axis, size: 56, values: (_, ticks) => ticks.map(short) },
        ],
        series: [
          { label: 'step', value: (_, step) => short(step) },
          ...data.curves.map(({ label, run, curve }) => ({
            label,
            stroke: colourOf(isOfRuns ? run : curve),
            width: 1.75,
            spanGaps: true,
            points: { show: data.steps.length < 2 },
            value: (_: uPlot, value: number | null) => short(value),
          })),
        ],
      },
      rows(),
      element,
    );
    plot.current = made;
    showLast(made);
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [shape]);
  useEffect(() => {
    plot.current?.setData(rows());
    if (plot.current) showLast(plot.current);
  }, [data]);

  const last = data.curves.map(
    ({ label, values }) => `${label} ${short(values.findLast((value) => value !== null))}`,
  );
  return (
    <figure class="chart">
      <figcaption>
        {title} <small>{unit}</small>
      </figcaption>
      <div ref={place} role="img" aria-label={`${title} over steps. Last values: ${last.join(', ')}`} />
    </figure>
  );
}

/** The legend has the last value of each curve while no step is pointed at. */
function showLast(plot: uPlot): void {
  const lasts = plot.data.map((values) => Array.from(values).findLastIndex((value) => value !== null));
  plot.setLegend({ idxs: [plot.data[0].length - 1, ...lasts.slice(1)] }, false);
}

/** The values with some room; a flat curve lies in the middle of its chart, and shares of 0 at its foot. */
function around(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  if (low === high) return low === 0 ? [0, 1] : [low - Math.abs(low) / 2, low + Math.abs(low) / 2];
  const room = (high - low) * 0.06;
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
}
