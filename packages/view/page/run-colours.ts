/** A colour for each run or curve: Okabe and Ito's palette, which people with any colour vision can tell apart. */
const palette = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#8a6d00', '#56b4e9', '#e69f00', '#7a5cff'];

export function colourOf(index: number): string {
  return palette[index % palette.length]!;
}
