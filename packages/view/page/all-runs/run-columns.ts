/** The columns of the run table, and what a run has in each. */
import type { RunOverview } from '../../src/overview/run-overview.ts';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { flatOptions } from '../flat-options.ts';
import { short, timeText } from '../numbers.ts';
import { sentence } from '../sentence.ts';

/** A run of the table. */
export interface RunEntry {
  head: RunHead;
  /** Position among all runs, which gives the colour. */
  index: number;
  /** Absent until it is known. */
  overview?: RunOverview;
  /** Column → what the run has there, to sort and to search by. */
  values: ReadonlyMap<string, string | number>;
}

export function entryOf(head: RunHead, index: number, overview: RunOverview | undefined): RunEntry {
  return { head, index, ...(overview && { overview }), values: valuesOf(head, overview) };
}

/** Columns whose values are not options or scores, in their order. */
const ownColumns: Readonly<Record<string, string>> = {
  status: 'status',
  progress: 'progress',
  score: 'score',
  reward: 'reward',
  fault: 'likely fault',
  begun: 'begun',
  duration: 'time',
  tags: 'tags',
  note: 'note',
};

/** Tags stand below the name of a run. */
export const defaultColumns: readonly string[] = Object.keys(ownColumns).filter(
  (column) => column !== 'tags' && column !== 'note',
);

/** `score.` before the name of a score. */
const ofScore = 'score.';

export function titleOf(column: string): string {
  return ownColumns[column] ?? column.replace(/^(trainerOptions|score)\./, '');
}

/** As the table shows it. */
export function cellText({ values }: RunEntry, column: string): string {
  const value = values.get(column);
  if (value === undefined) return '–';
  if (column === 'duration') return timeText(Number(value));
  if (column === 'begun') return String(value).slice(0, 16).replace('T', ' ');
  if (column === 'score' || column === 'reward' || column.startsWith(ofScore))
    return Number(value).toFixed(3);
  return typeof value === 'number' ? short(value) : value;
}

/** All columns that a run has: the usual ones, scores, and options, of which those that differ come first. */
export function columnsOf(entries: readonly RunEntry[]): string[] {
  const values = new Map<string, Set<string | number | undefined>>();
  for (const [number, entry] of entries.entries()) {
    for (const [column, value] of entry.values) {
      const known = values.get(column);
      if (known) known.add(value);
      // The runs before have no such option.
      else values.set(column, new Set(number === 0 ? [value] : [undefined, value]));
    }
    for (const [column, known] of values) if (!entry.values.has(column)) known.add(undefined);
  }
  const rank = (column: string) =>
    column in ownColumns ? 0 : column.startsWith(ofScore) ? 1 : values.get(column)!.size > 1 ? 2 : 3;
  const found = [...values.keys()].filter((column) => column !== 'name' && !(column in ownColumns));
  return [...Object.keys(ownColumns), ...found.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))];
}

/** The score that says which episodes were right: of the last evaluation, or else of the last step. */
export function headlineOf({ scores, latest }: RunOverview): { name: string; mean: number } | undefined {
  const score = scores.find(({ name }) => name !== 'reward');
  return score ? { name: score.name, mean: score.after.mean } : latest.find(({ name }) => name !== 'reward');
}

function valuesOf(
  { name, kind, facts, begun, notes }: RunHead,
  overview?: RunOverview,
): Map<string, string | number> {
  const { rewardSpec: _, packages: __, ...shown } = facts;
  const values = new Map<string, string | number>([['name', name]]);
  if (begun !== undefined) values.set('begun', begun);
  if (notes?.note) values.set('note', notes.note);
  if (notes && notes.tags.length > 0) values.set('tags', notes.tags.join(' '));
  for (const [option, text] of flatOptions({ kind, ...shown })) {
    const isNumber = text.trim() !== '' && Number.isFinite(Number(text));
    values.set(option, isNumber ? Number(text) : text);
  }
  if (!overview) return values;
  const { status, progress, scores, latest, cost, diagnoses } = overview;
  values.set('status', status.kind);
  values.set('progress', progress.done);
  for (const { name, after } of scores) values.set(ofScore + name, after.mean);
  const headline = headlineOf(overview);
  if (headline) values.set('score', headline.mean);
  const reward =
    scores.find(({ name }) => name === 'reward')?.after ?? latest.find(({ name }) => name === 'reward');
  if (reward) values.set('reward', reward.mean);
  if (cost.seconds !== undefined) values.set('duration', cost.seconds);
  if (diagnoses[0]) values.set('fault', sentence(diagnoses[0].fault));
  return values;
}
