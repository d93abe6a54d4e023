/** Numbers in the sentences of diagnoses. */

/** `98 %`; tenths below 10 %. */
export function percent(share: number): string {
  const value = 100 * share;
  return `${value < 9.95 ? Number(value.toFixed(1)) : Math.round(value)} %`;
}

/** Two digits after the point, or two significant digits of a small number. */
export function number(value: number): string {
  if (value === 0 || Math.abs(value) >= 0.095) return String(Number(value.toFixed(2)));
  return String(Number(value.toPrecision(2)));
}
