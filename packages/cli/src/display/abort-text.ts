/** abortText: which share of the episodes enters no mean, and why. */
import { safeLine } from './terminal-text.ts';

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
