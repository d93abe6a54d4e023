/** The columns of the list of episodes. */
import type { ComponentChildren } from 'preact';
import type { EpisodeRow } from '../../src/view/episode-index.ts';
import { short } from '../numbers.ts';

export interface Column {
  /** What the server sorts by. */
  sort: string;
  name: string;
  /** Of a CSS grid. */
  width: string;
  isNumber?: boolean;
  cell(row: EpisodeRow): ComponentChildren;
}

export const columns: readonly Column[] = [
  { sort: 'step', name: 'step', width: '4.5rem', isNumber: true, cell: ({ step }) => step ?? '–' },
  {
    sort: 'reward',
    name: 'reward',
    width: '6.5rem',
    isNumber: true,
    cell: ({ reward }) => <Reward value={reward} />,
  },
  { sort: 'outcome', name: 'outcome', width: '11rem', cell: ({ end }) => <Outcome end={end} /> },
  { sort: 'turns', name: 'turns', width: '4.5rem', isNumber: true, cell: ({ turns }) => turns },
  { sort: 'calls', name: 'calls', width: '4.5rem', isNumber: true, cell: ({ calls }) => calls },
  { sort: 'tokens', name: 'tokens', width: '5rem', isNumber: true, cell: ({ tokens }) => short(tokens) },
  { sort: 'mistakes', name: 'mistakes', width: '9rem', cell: ({ mistakes }) => mistakes.join(', ') },
  { sort: 'question', name: 'question', width: 'minmax(12rem, 2fr)', cell: ({ question }) => question },
  { sort: 'answer', name: 'last words', width: 'minmax(8rem, 1fr)', cell: ({ answer }) => answer },
];

export const gridColumns = columns.map(({ width }) => width).join(' ');

export function Reward({ value }: { value: number | null }) {
  if (value === null) return <span class="soft">–</span>;
  const side = value < 0 ? 'var(--bad)' : 'var(--good)';
  // A small reward is no success: the colour comes with the size.
  const share = Math.round(100 * Math.min(1, Math.abs(value)));
  const color = `color-mix(in srgb, ${side} ${share}%, var(--text-soft))`;
  return <span style={{ color }}>{value.toFixed(3)}</span>;
}

export function Outcome({ end }: { end: string }) {
  const [kind = ''] = end.split(':');
  return <span class={`outcome ${kind}`}>{end.replace('terminated:', '').replace(':', ': ')}</span>;
}
