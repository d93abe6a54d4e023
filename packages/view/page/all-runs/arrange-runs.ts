/** Which runs the table shows, in which order, and which runs differ by their seed alone. */
import type { RunEntry } from './run-columns.ts';

const comparison = /^([^<>=:]+)(<=|>=|<|>|=|:)(.+)$/;

/**
 * The runs that every word of the text fits: `grpo` is in the name or in a value, `trainer:grpo` in the value of a column, `seed=2` is that
 * value, and `score>0.9` compares numbers. A column is named in full or by its last part.
 */
export function filterRuns(entries: readonly RunEntry[], text: string): RunEntry[] {
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map(testOf);
  return entries.filter((entry) => tests.every((fits) => fits(entry)));
}

function testOf(word: string): (entry: RunEntry) => boolean {
  const [, column = '', sign = '', given = ''] = comparison.exec(word) ?? [];
  const fits = fitsOf(sign, given);
  return ({ values }) => {
    const all = [...values];
    const named = all.filter(([name]) => isNamed(name.toLowerCase(), column));
    // A text such as http://host has a colon and names no column.
    if (named.length === 0) return all.some(([, value]) => String(value).toLowerCase().includes(word));
    return named.some(([, value]) => fits(value));
  };
}

function isNamed(name: string, column: string): boolean {
  return column !== '' && (name === column || name.endsWith(`.${column}`));
}

function fitsOf(sign: string, given: string): (value: string | number) => boolean {
  const number = Number(given);
  switch (sign) {
    case '<':
      return (value) => Number(value) < number;
    case '<=':
      return (value) => Number(value) <= number;
    case '>':
      return (value) => Number(value) > number;
    case '>=':
      return (value) => Number(value) >= number;
    case '=':
      return (value) => String(value).toLowerCase() === given || (given !== '' && Number(value) === number);
    default:
      return (value) => String(value).toLowerCase().includes(given);
  }
}

/** @param sort A column; after `-`, from the greatest. Runs without a value come last, and equal ones stay in order. */
export function sortRuns(entries: readonly RunEntry[], sort: string): RunEntry[] {
  if (sort === '') return [...entries];
  const falls = sort.startsWith('-');
  const column = falls ? sort.slice(1) : sort;
  return [...entries].sort((a, b) => {
    const [one, other] = [a.values.get(column), b.values.get(column)];
    if (one === undefined || other === undefined)
      return Number(one === undefined) - Number(other === undefined);
    return (falls ? -1 : 1) * compare(one, other);
  });
}

function compare(one: string | number, other: string | number): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one).localeCompare(String(other), 'en', { numeric: true });
}

/** Runs that differ by their seed alone. */
export interface SeedGroup {
  runs: RunEntry[];
  /** Column → mean and standard deviation over the runs that have a number there. The deviation is absent for one of them. */
  numbers: ReadonlyMap<string, { mean: number; deviation?: number }>;
}

/** Columns that say how a run has gone, or which seed it has: first those of every run, then the facts of an evaluation. */
const outcomes = new Set(
  `name note tags seed envOptions.seed policyOptions.seed begun commit status progress score reward fault duration
  aborted episodes rewardInterval seconds tokens toolCalls turns`.split(/\s+/),
);
const outcomeGroups = /^(score|means|intervals|outcomes|pass|faults|causes|usage)\./;

const isOfOutcome = (column: string) => outcomes.has(column) || outcomeGroups.test(column);

/** In the order of their first runs. */
export function groupBySeed(entries: readonly RunEntry[], columns: readonly string[]): SeedGroup[] {
  const groups = new Map<string, RunEntry[]>();
  for (const entry of entries) {
    const options = [...entry.values]
      .filter(([column]) => !isOfOutcome(column))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify(options);
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return [...groups.values()].map((runs) => ({ runs, numbers: numbersOf(runs, columns) }));
}

function numbersOf(runs: readonly RunEntry[], columns: readonly string[]): SeedGroup['numbers'] {
  const found = columns.flatMap((column) => {
    const values = runs.map(({ values }) => values.get(column)).filter((value) => typeof value === 'number');
    if (values.length === 0) return [];
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const deviation = values.length > 1 ? { deviation: Math.sqrt(squares / (values.length - 1)) } : {};
    return [[column, { mean, ...deviation }] as const];
  });
  return new Map(found);
}
