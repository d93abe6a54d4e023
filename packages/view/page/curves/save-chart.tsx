/** Saves a chart as a table or as a picture. */

import { type SvgChartOptions, svgChart } from '@toolenv/training/svg-chart';
import { save } from '../save.ts';

interface Props {
  title: string;
  csv(): string;
  chart(): SvgChartOptions;
}

export function SaveChart({ title, csv, chart }: Props) {
  const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const svg = () => new Blob([svgChart(chart())], { type: 'image/svg+xml' });
  const kinds: Record<string, () => void> = {
    CSV: () => save(new Blob([csv()], { type: 'text/csv' }), `${name}.csv`),
    SVG: () => save(svg(), `${name}.svg`),
    PNG: () =>
      void svg()
        .text()
        .then(drawn)
        .then((blob) => save(blob, `${name}.png`)),
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

/** The picture in twice its size, so that it stays sharp in print. */
async function drawn(svg: string): Promise<Blob> {
  const image = new Image();
  // The policy of the page allows no other addresses.
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture is too large.')))),
  );
}
