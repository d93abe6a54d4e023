/** What other rewards change in recorded episodes, as a table for people to read. */
import type { RescoredScore, RescoredSummary } from '@toolenv/training';
import { scoreLabel } from '@toolenv/training/runs';
import { changeText } from './comparison-table.ts';
import { countText, scoreText } from './number-text.ts';
import { alignedRows, safeLine } from './terminal-text.ts';

export function rescoredTable({ episodes, aborted, changed, reward, components }: RescoredSummary): string {
  const row = (name: string, { before, after, difference }: RescoredScore) => [
    ...[safeLine(name), scoreText(before), scoreText(after), changeText(difference)],
  ];
  const counts = [
    `${countText(changed)} of ${countText(episodes)} episodes have another reward`,
    ...(aborted > 0 ? [`${countText(aborted)} were aborted and have none`] : []),
  ];
  const rows = [
    ['', 'before', 'after', 'after minus before'],
    row('reward', reward),
    ...Object.entries(components).map(([name, score]) => row(scoreLabel(name), score)),
  ];
  return [...alignedRows(rows), '', counts.join(', ')]
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
}
