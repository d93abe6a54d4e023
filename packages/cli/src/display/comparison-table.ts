/** The numbers of several evaluations side by side, with their differences from the first. */
import type { Estimate, Evaluation, Interval } from '@toolenv/training';
import { type ScoreDifferences, scoreLabel } from '@toolenv/training/runs';
import { abortText, countText, scoreText, timeText } from './number-text.ts';
import { alignedRows, safeLine } from './terminal-text.ts';

export interface Compared {
  policy: string;
  evaluation: Evaluation;
  /** Dollars, if they are known. */
  cost?: number | undefined;
  /** From the first policy, on the same tasks; absent for the first. */
  difference?: ScoreDifferences;
}

export function comparisonTable(compared: readonly Compared[]): string {
  const names = [...new Set(compared.flatMap(({ evaluation }) => Object.keys(evaluation.means)))];
  const later = compared.slice(1);
  const row = (
    name: string,
    value: (each: Compared) => string,
    change: (each: Compared) => string = () => '',
  ): string[] => [safeLine(name), ...compared.map(value), ...later.map(change)];
  const rows = [
    ['', ...compared.map((_, i) => `policy ${i + 1}`), ...later.map((_, i) => `${i + 2} minus 1`)],
    row(
      'reward',
      ({ evaluation }) => estimateText(evaluation.reward, evaluation.rewardInterval),
      ({ difference }) => changeText(difference?.reward),
    ),
    ...names.map((name) =>
      row(
        scoreLabel(name),
        ({ evaluation }) => estimateText(evaluation.means[name], evaluation.intervals[name]),
        ({ difference }) => changeText(difference?.means[name]),
      ),
    ),
    row('tool calls', ({ evaluation }) => evaluation.toolCalls.toFixed(2)),
    row('turns', ({ evaluation }) => evaluation.turns.toFixed(2)),
    row('episodes', ({ evaluation }) => countText(evaluation.episodes)),
    row('left out', ({ evaluation: { faults = {}, episodes } }) => abortText(faults, episodes) || 'none'),
    ...(compared.some(({ evaluation }) => evaluation.unscored)
      ? [row('not scored', ({ evaluation }) => countText(evaluation.unscored ?? 0))]
      : []),
    row('time', ({ evaluation }) => timeText(evaluation.seconds)),
  ];
  if (compared.some(({ cost }) => cost !== undefined)) rows.push(row('cost', ({ cost }) => dollars(cost)));
  const legend = compared.map(({ policy }, i) => `policy ${i + 1}: ${safeLine(policy)}`);
  return [...legend, '', ...alignedRows(rows)].map((line) => (line === '' ? '' : `  ${line}`)).join('\n');
}

/** `0.410 (0.380 to 0.440)`. */
export function estimateText(mean: number | null | undefined, interval: Interval | null | undefined): string {
  return `${scoreText(mean)}${interval ? ` (${interval.map(scoreText).join(' to ')})` : ''}`;
}

export function changeText(difference: Estimate | null | undefined): string {
  if (!difference) return '–';
  const { mean, interval } = difference;
  return `${mean > 0 ? '+' : ''}${estimateText(mean, interval)}`;
}

export function dollars(cost: number | undefined): string {
  return cost === undefined ? '–' : `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
}
