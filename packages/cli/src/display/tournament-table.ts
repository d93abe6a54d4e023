/** The result of a tournament as tables: what each policy did, and who beats whom. */
import type { Tournament } from '@toolenv/training';
import { alignedRows } from './aligned-rows.ts';
import { estimateText } from './comparison-table.ts';
import { causeRows } from './evaluation-table.ts';
import { plural, scoreText, timeText } from './number-text.ts';
import { safeLine } from './terminal-text.ts';

export function tournamentTable({ standings, seats, games, aborted, causes, seconds }: Tournament): string {
  const names = Object.keys(standings);
  const rows = [
    ['', 'win rate', 'reward', ...seats.map((seat) => `as ${safeLine(seat)}`)],
    ...Object.entries(standings).map(([name, { winRate, reward, bySeat }]) => [
      safeLine(name),
      estimateText(winRate?.mean, winRate?.interval),
      estimateText(reward?.mean, reward?.interval),
      ...seats.map((seat) => scoreText(bySeat[seat])),
    ]),
  ];
  const pairs = [
    ['wins against', ...names.map(safeLine)],
    ...Object.entries(standings).map(([name, { against }]) => [
      safeLine(name),
      ...names.map((rival) => estimateText(against[rival]?.mean, against[rival]?.interval)),
    ]),
  ];
  const lost = aborted > 0 ? `, ${aborted} of them aborted and not counted` : '';
  const played = [
    ['games', `${plural(games, 'game')}${lost}, in ${timeText(seconds)}`],
    ...causeRows(causes),
  ];
  // Of two policies, the win rates above say all.
  return [rows, ...(names.length > 2 ? [pairs] : []), played].map(tableText).join('\n\n');
}

function tableText(rows: readonly (readonly string[])[]): string {
  return alignedRows(rows)
    .map((line) => `  ${line}`)
    .join('\n');
}
