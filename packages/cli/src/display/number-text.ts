/** How numbers and times are written for people. */
import { safeLine } from './terminal-text.ts';

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

/**
 * `6 % aborted (timeout 5 %, tool_failed 1 %)`, the most frequent first; empty without any.
 * @param faults Aborted episodes by the code of their fault: how many of `episodes`, or their shares.
 */
export function abortText(faults: Readonly<Record<string, number>> = {}, episodes = 1): string {
  const sorted = Object.entries(faults)
    .map(([code, count]) => [code, count / episodes] as const)
    .sort(([, a], [, b]) => b - a);
  const all = sorted.reduce((sum, [, share]) => sum + share, 0);
  if (all === 0) return '';
  const causes = sorted.map(
    ([code, share]) => `${safeLine(code.replace('infrastructure.', ''))} ${percent(share)}`,
  );
  return `${percent(all)} aborted (${causes.join(', ')})`;
}

/** Not 0 for anything that happened. */
function percent(share: number): string {
  return share < 0.005 ? '< 1 %' : `${Math.round(100 * share)} %`;
}
