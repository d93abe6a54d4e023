/** Saves a chart as a table or as a picture. */
import { svgChart } from '@toolenv/training/svg-chart';
import type { RefObject } from 'preact';
import { type Axis, axes, type ChartData, csvOf } from './chart-data.ts';

interface Props {
  title: string;
  unit: string;
  data: ChartData;
  axis: Axis;
  /** Has the canvas of the chart. */
  place: RefObject<HTMLElement | null>;
}

export function SaveChart({ title, unit, data, axis, place }: Props) {
  const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const kinds: Record<string, () => void> = {
    CSV: () => save(new Blob([csvOf(data, axis)], { type: 'text/csv' }), `${name}.csv`),
    SVG: () => save(new Blob([svgOf(title, unit, data, axis)], { type: 'image/svg+xml' }), `${name}.svg`),
    PNG: () => place.current?.querySelector('canvas')?.toBlob((blob) => blob && save(blob, `${name}.png`)),
  };
  return (
    <span class="save">
      {Object.entries(kinds).map(([kind, saveIt]) => (
        <button key={kind} type="button" onClick={saveIt} aria-label={`Save ${title} as ${kind}`}>
          {kind}
        </button>
      ))}
    </span>
  );
}

function svgOf(title: string, unit: string, { places, curves }: ChartData, axis: Axis): string {
  const lines = curves.map(({ label, values }) => ({
    name: label,
    points: places.flatMap((at, index) => (values[index] === null ? [] : [[at, values[index]!] as const])),
  }));
  return svgChart({ title, valueLabel: unit, stepLabel: axes[axis], curves: lines });
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
