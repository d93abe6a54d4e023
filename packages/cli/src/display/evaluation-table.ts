/** The numbers of an evaluation as a table for people to read. */
import type { Evaluation } from '@toolenv/training';
import { scoreLabel } from '@toolenv/training';
import { countText, scoreText, timeText } from './number-text.ts';
import { safeLine } from './terminal-text.ts';

export function evaluationTable(evaluation: Evaluation): string {
  const { episodes, aborted, means, reward, outcomes, toolCalls, turns, tokens, seconds } = evaluation;
  const ends = Object.entries(outcomes).sort(([, a], [, b]) => b - a);
  const rows: [string, string][] = [
    ['reward', scoreText(reward)],
    ...Object.entries(means).map(([name, mean]): [string, string] => [
      safeLine(scoreLabel(name)),
      scoreText(mean),
    ]),
    ['tool calls', `${toolCalls.toFixed(2)} per episode`],
    ['turns', `${turns.toFixed(2)} per episode`],
    ['tokens', `${countText(tokens)} generated, ${countText(tokens / seconds)} per second`],
    [
      'ended',
      ends
        .map(([end, count]) => `${count} ${safeLine(end.replace(':', ', ').replaceAll('_', ' '))}`)
        .join('; ') || '–',
    ],
    [
      'episodes',
      `${episodes}${aborted > 0 ? `, ${aborted} of them aborted and not scored` : ''}, in ${timeText(seconds)}`,
    ],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join('\n');
}
