/** Table tasks of terminal-v1: rows in CSV or JSON lines are filtered, and something is computed from them. */
import type { Rng } from '@toolenv/core';

/** Files, what is asked, and the files that must be there at the end. */
export interface TerminalTask {
  prompt: string;
  files: Record<string, string>;
  /** All files at the end. */
  gold: Record<string, string>;
  /** Commands that turn the files into the gold files. */
  commands: string[];
}

/** A task, and the parts it is combined from; `undefined` if they do not fit. */
export type Drawn = { parts: readonly string[]; task: TerminalTask } | undefined;

interface Row {
  name: string;
  city: string;
  age: number;
  score: number;
}

const names = [
  'Ada',
  'Ben',
  'Clara',
  'Dina',
  'Emil',
  'Farid',
  'Greta',
  'Hugo',
  'Ines',
  'Jonas',
  'Kofi',
  'Lena',
];
const cities = ['Bern', 'Cork', 'Lyon', 'Oslo'];
const columns = ['name', 'city', 'age', 'score'] as const;

const formats = {
  csv: {
    path: 'data/people.csv',
    says: 'The file data/people.csv has a header and the columns name, city, age and score.',
    write: (rows: Row[]) =>
      [columns.join(','), ...rows.map((row) => columns.map((column) => row[column]).join(','))].join('\n'),
    rows: 'tail -n +2 data/people.csv',
  },
  jsonl: {
    path: 'data/people.jsonl',
    says: 'Each line of data/people.jsonl is a JSON object with name, city, age and score.',
    write: (rows: Row[]) => rows.map((row) => JSON.stringify(row)).join('\n'),
    rows: 'jq -r \'"\\(.name),\\(.city),\\(.age),\\(.score)"\' data/people.jsonl',
  },
};

interface Filter {
  says: string;
  fits(row: Row): boolean;
  /** A condition of awk, whose columns are `$1` to `$4`. */
  awk: string;
}

const filters: Readonly<Record<string, (rng: Rng) => Filter>> = {
  all: () => ({ says: 'all people', fits: () => true, awk: '1' }),
  city(rng) {
    const city = rng.pick(cities);
    return { says: `the people in ${city}`, fits: (row) => row.city === city, awk: `$2 == "${city}"` };
  },
  age(rng) {
    const age = 25 + rng.int(30);
    return { says: `the people older than ${age}`, fits: (row) => row.age > age, awk: `$3 > ${age}` };
  },
};

interface Result {
  path: string;
  /** What to write about `%`. */
  says: string;
  write(rows: Row[]): string[];
  /** Reads the filtered rows as CSV, without a header. */
  command: string;
}

const results: Readonly<Record<string, Result>> = {
  sum: {
    path: 'sum.txt',
    says: 'Write the sum of the scores of % into the file sum.txt, only the number.',
    write: (rows) => [String(rows.reduce((sum, { score }) => sum + score, 0))],
    command: "awk -F, '{ s += $4 } END { print s }'",
  },
  names: {
    path: 'names.txt',
    says: 'Write the names of % into the file names.txt, a name on each line, in the order of the alphabet.',
    write: (rows) => rows.map(({ name }) => name).sort(),
    command: 'cut -d, -f1 | LC_ALL=C sort',
  },
  best: {
    path: 'best.csv',
    says: 'Write name and score of % into the file best.csv, as lines of name,score without a header, the highest score first.',
    write: (rows) => rows.toSorted((a, b) => b.score - a.score).map(({ name, score }) => `${name},${score}`),
    command: 'cut -d, -f1,4 | sort -t, -k2,2nr',
  },
  cities: {
    path: 'cities.csv',
    says: 'Count % by city, and write the counts into the file cities.csv, as lines of city,count without a header, in the order of the alphabet, without cities that have none.',
    write: (rows) =>
      cities
        .map((city) => `${city},${rows.filter((row) => row.city === city).length}`)
        .filter((line) => !line.endsWith(',0')),
    command: 'awk -F, \'{ n[$2] += 1 } END { for (c in n) print c "," n[c] }\' | LC_ALL=C sort',
  },
};

export function drawTableTask(rng: Rng): Drawn {
  const formatName = rng.pick(Object.keys(formats) as (keyof typeof formats)[]);
  const [filterName, resultName] = [rng.pick(Object.keys(filters)), rng.pick(Object.keys(results))];
  const [format, filter, result] = [formats[formatName], filters[filterName]!(rng), results[resultName]!];
  // No two scores are equal.
  const scores = rng.shuffle(Array.from({ length: 90 }, (_, at) => at + 10));
  const rows = rng
    .shuffle(names)
    .slice(0, 7 + rng.int(6))
    .map((name, at) => ({ name, city: rng.pick(cities), age: 20 + rng.int(50), score: scores[at]! }));
  const chosen = rows.filter((row) => filter.fits(row));
  if (chosen.length < 2) return undefined;
  const files = {
    [format.path]: `${format.write(rows)}\n`,
    'README.txt': 'Data about people. Do not change it.\n',
  };
  return {
    parts: [formatName, filterName, resultName],
    task: {
      prompt: `${format.says} ${result.says.replace('%', filter.says)} Change no other file.`,
      files,
      gold: { ...files, [result.path]: `${result.write(chosen).join('\n')}\n` },
      commands: [`${format.rows} | awk -F, '${filter.awk}' | ${result.command} > ${result.path}`],
    },
  };
}
