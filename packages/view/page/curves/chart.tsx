/** A chart of curves over training steps. */
import type { SvgChartOptions } from '@toolenv/training/svg-chart';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { short } from '../numbers.ts';
import { colourOf } from '../run-colours.ts';
import type { Theme } from '../theme.ts';
import { type Axis, axes, type ChartData, csvOf } from './chart-data.ts';
import { SaveChart } from './save-chart.tsx';

interface Props {
  title: string;
  unit: string;
  data: ChartData;
  axis?: Axis;
  isLogarithmic?: boolean;
  theme: Theme;
  /** Whether a colour is a run; else it is a curve. */
  isOfRuns: boolean;
}

const height = 210;

/** Steps between two marks: whole numbers. */
const steps = [1, 2, 5]
  .flatMap((first) => Array.from({ length: 10 }, (_, power) => first * 10 ** power))
  .sort((a, b) => a - b);

export function Chart({ title, unit, data, axis = 'step', isLogarithmic = false, theme, isOfRuns }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shape = JSON.stringify([
    theme,
    axis,
    isLogarithmic,
    data.curves.map(({ label, run, curve }) => [label, run, curve]),
  ]);
  const colour = ({ run, curve }: ChartData['curves'][number]) => colourOf(isOfRuns ? run : curve);
  // The plot lives longer than the data that it began with.
  const drawn = useRef(data);
  drawn.current = data;
  const rows = (): uPlot.AlignedData => [data.places, ...data.curves.map(({ values }) => values)];

  useLayoutEffect(() => {
    const element = place.current!;
    const style = getComputedStyle(document.documentElement);
    const [text, line] = [style.getPropertyValue('--text-soft'), style.getPropertyValue('--line')];
    const look = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height,
        cursor: { sync: { key: 'step' }, points: { size: 6 } },
        hooks: {
          setCursor: [(moved) => moved.cursor.idx ?? showLast(moved)],
          drawAxes: [(plot) => drawBands(plot, drawn.current, colour)],
        },
        scales: {
          x: { time: false },
          y: isLogarithmic ? { distr: 3 } : { range: (_, low, high) => around(low, high) },
        },
        axes: [
          {
            ...look,
            ...(axis !== 'time' && { incrs: steps }),
            values: (_, ticks) => ticks.map(short),
          },
          { ...look, size: 56, values: (_, ticks) => ticks.map(short) },
        ],
        series: [
          { label: axis === 'step' ? 'step' : axes[axis], value: (_, place) => short(place) },
          ...data.curves.map((each) => ({
            label: each.label,
            stroke: colour(each),
            width: 1.75,
            spanGaps: true,
            points: { show: data.places.length < 2 },
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
        <SaveChart
          title={title}
          csv={() => csvOf(data, axis)}
          chart={() => savedChart(title, unit, data, axis, colour)}
        />
      </figcaption>
      <div
        ref={place}
        role="img"
        aria-label={`${title} over ${axes[axis]}. Last values: ${last.join(', ')}`}
      />
    </figure>
  );
}

function savedChart(
  title: string,
  unit: string,
  { places, curves }: ChartData,
  axis: Axis,
  colour: (curve: ChartData['curves'][number]) => string,
): SvgChartOptions {
  return {
    title,
    valueLabel: unit,
    // Steps are whole numbers.
    ...(axis !== 'step' && { stepLabel: axes[axis] }),
    curves: curves.map(({ label, values }) => ({
      name: label,
      points: places.flatMap((at, index) => (values[index] === null ? [] : [[at, values[index]!] as const])),
    })),
    colors: curves.map(colour),
  };
}

/** Where the runs of a mean lie, below its curve. */
function drawBands(
  plot: uPlot,
  { places, curves }: ChartData,
  colour: (curve: ChartData['curves'][number]) => string,
): void {
  const { ctx } = plot;
  for (const curve of curves) {
    if (!curve.band) continue;
    const { low, high } = curve.band;
    const known = places.flatMap((place, at) =>
      low[at] === null || high[at] === null ? [] : [[place, low[at]!, high[at]!] as const],
    );
    const at = (place: number, value: number) =>
      [plot.valToPos(place, 'x', true), plot.valToPos(value, 'y', true)] as const;
    ctx.save();
    ctx.globalAlpha = 0.18;
    ctx.fillStyle = colour(curve);
    ctx.beginPath();
    for (const [place, , top] of known) ctx.lineTo(...at(place, top));
    for (const [place, bottom] of known.toReversed()) ctx.lineTo(...at(place, bottom));
    ctx.fill();
    ctx.restore();
  }
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
