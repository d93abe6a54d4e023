/** How numbers and times are written for people. */

/** Three decimals: `0.413`. A dash stands for a value that was not scored. */
export function scoreText(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : value.toFixed(3);
}

/** Rounded, with commas between thousands: `12,345`. */
export function countText(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** `1 step`, `12,345 steps`. */
export function plural(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `0:07`, `3:05`, `1:02:09`. */
export function timeText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const tail = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`;
}
