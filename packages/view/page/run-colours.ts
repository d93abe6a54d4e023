/** A colour for each run or curve: Okabe and Ito's palette, which people with any colour vision can tell apart, and then more hues. */
const palette = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#8a6d00', '#56b4e9', '#e69f00', '#7a5cff'];

/** No two of any number of runs have the same colour. */
export function colourOf(index: number): string {
  // The golden angle puts each hue as far as it can from those before it.
  const hue = ((index - palette.length) * 137.508 + 20) % 360;
  return palette[index] ?? `hsl(${hue.toFixed(1)} 60% 45%)`;
}
