/** A curve as small as a word. */

const [width, height] = [72, 18];

/** @param values At least two, from the first step to the last. */
export function Sparkline({ values, colour }: { values: readonly number[]; colour: string }) {
  if (values.length < 2) return null;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * (width - 2) + 1;
    const y = high > low ? height - 2 - ((value - low) / (high - low)) * (height - 4) : height / 2;
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg class="sparkline" width={width} height={height} aria-hidden="true">
      <polyline points={points.join(' ')} fill="none" stroke={colour} stroke-width="1.5" />
    </svg>
  );
}
