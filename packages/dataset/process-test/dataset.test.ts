/** Tasks from the rows of files: formats, errors, and what is kept in memory. */
import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, open, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { defineToolEnv, openEnv, type TaskSet } from '@toolenv/core';
import { dataset } from '@toolenv/dataset';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { keptMemory } from '../../core/test/kept-memory.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-dataset-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

async function all<Task>(set: TaskSet<Task>): Promise<Task[]> {
  return Promise.all(Array.from({ length: await set.length }, (_, index) => set.get(index)));
}

/** Reads one row after another, so that the first broken row is the row that fails. */
async function inOrder<Task>(set: TaskSet<Task>): Promise<void> {
  const length = await set.length;
  for (let index = 0; index < length; index++) await set.get(index);
}

const rows = [
  { question: 'What is 2 + 2?', answer: '4' },
  { question: 'Say "é, 日本"\nand stop', answer: '' },
  { question: 'a,b', answer: '\u2028' },
];
const map = (row: { question: string; answer: string }, index: number) => ({ index, ...row });
const tasks = rows.map((row, index) => ({ index, ...row }));
const jsonl = rows.map((row) => JSON.stringify(row)).join('\n');
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const csv = ['question,answer', ...rows.map((row) => [row.question, row.answer].map(quoted).join(','))].join(
  '\n',
);
const mark = '\ufeff';

const contents: Record<string, string | Uint8Array> = {
  'rows.jsonl': `${jsonl}\n`,
  'open-end.jsonl': jsonl,
  'windows.jsonl': `${mark}${jsonl.replaceAll('\n', '\r\n')}\r\n`,
  'blank.jsonl': `\n \r\n${jsonl.replaceAll('\n', '\n\n\t\n')}\n\n \n`,
  'named-plain.jsonl': gzipSync(jsonl),
  'rows.ndjson.gz': gzipSync(jsonl),
  'ROWS.JSON': JSON.stringify(rows, null, 2),
  'rows.csv': `${csv}\n`,
  'windows.csv': `${mark}${csv.replaceAll(/\n(?!and)/g, '\r\n')}`,
  'rows.csv.gz': gzipSync(csv),
  'rows.tsv': csv.replaceAll('","', '"\t"').replace('question,answer', 'question\tanswer'),
};

describe('a CSV file', () => {
  const schema = {
    type: 'object',
    properties: {
      question: { type: 'string' },
      a1: { type: 'number' },
      tries: { type: 'integer' },
      hard: { type: 'boolean' },
      level: { enum: [1, 2] },
      hint: { type: ['integer', 'null'] },
    },
    required: ['question', 'a1', 'level', 'hint'],
    additionalProperties: false,
  } as const;
  const header = 'question,a1,tries,hard,level,hint\n';

  test('gives the types that the schema of its rows wants', async () => {
    const path = await file('typed.csv', `${header}7,2.50,3,true,1,\nx,-1e3, ,,2,12\n`);
    const set = dataset(path, {
      schema,
      map: (row) => {
        expectTypeOf(row.a1).toEqualTypeOf<number>();
        expectTypeOf(row.hard).toEqualTypeOf<boolean | undefined>();
        return row;
      },
    });
    expect(await all(set)).toEqual([
      { question: '7', a1: 2.5, tries: 3, hard: true, level: 1, hint: null },
      { question: 'x', a1: -1000, level: 2, hint: 12 },
    ]);
  });

  test.each([
    ['7,two,3,true,1,', /line 2: \/a1 .*number.*"two"/],
    // Another number, if it were read as one.
    ['7,1,9007199254740993,true,1,', /line 2: \/tries .*integer.*"9007199254740993"/],
    ['7,0x10,3,true,1,', /line 2: \/a1 .*"0x10"/],
    ['7,1,3,yes,1,', /line 2: \/hard .*boolean.*"yes"/],
    ['7,,3,true,1,', /line 2: .*a1/],
  ])('whose row is %s is refused with the value', async (row, problem) => {
    const set = dataset(await file('untyped.csv', `${header}${row}\n`), { schema, map: (given) => given });
    await expect(inOrder(set)).rejects.toMatchObject({
      code: 'usage.broken_record',
      message: expect.stringMatching(problem),
    });
  });
});

describe('the splits of one file', () => {
  const content = { a: 'train', b: 'test', c: 'train', d: 'test' };
  const rows = Object.entries(content).map(([name, split], index) => ({ name, split, fold: index % 2 }));
  const map = ({ name }: { name: string }, index: number) => `${index} ${name}`;

  test.each(['csv', 'jsonl', 'json'])(
    'are the rows of a .%s file with a value of a column',
    async (format) => {
      const texts = {
        csv: `name,split,fold\n${rows.map((row) => Object.values(row).join(',')).join('\n')}`,
        jsonl: rows.map((row) => JSON.stringify(row)).join('\n'),
        json: JSON.stringify(rows),
      };
      const path = await file(`splits.${format}`, texts[format as 'csv']);
      expect(await all(dataset(path, { only: { split: 'train' }, map }))).toEqual(['0 a', '1 c']);
      expect(await all(dataset(path, { only: { split: 'test', fold: 1 }, map }))).toEqual(['0 b', '1 d']);
      await expect(all(dataset(path, { only: { split: 'tset' }, map }))).rejects.toThrow(
        'has no rows with {"split":"tset"}',
      );
      await expect(all(dataset(path, { only: { spilt: 'test' }, map }))).rejects.toThrow(
        'there is no "spilt", which "only" asks for. Did you mean "split"?',
      );
    },
  );
});

describe('a file of rows becomes tasks', () => {
  test.each(Object.keys(contents))('%s', async (name) => {
    const path = await file(name, contents[name]!);
    expect(await all(dataset(path, { map }))).toEqual(tasks);
    expect(await all(dataset(pathToFileURL(path), { map }))).toEqual(tasks);
  });

  test('Parquet, whose values become JSON, group by group', async () => {
    const ids = [1n, 2n ** 60n, -3n];
    const times = [0, 1, 2].map((day) => new Date(Date.UTC(2024, 0, day + 1)));
    const parquet = parquetWriteBuffer({
      columnData: [
        { name: 'question', data: rows.map(({ question }) => question), type: 'STRING' },
        { name: 'id', data: ids, type: 'INT64' },
        { name: 'at', data: times, type: 'TIMESTAMP' },
        { name: 'bytes', data: ids.map((_, i) => new Uint8Array([i, 255])), type: 'BYTE_ARRAY' },
        { name: 'more', data: ids.map((id) => ({ list: [id, null] })), type: 'JSON' },
      ],
      rowGroupSize: 2,
    });
    const path = await file('rows.parquet', new Uint8Array(parquet));
    const found = await all(dataset(path, { map: (row) => row }));
    expect(found.map(({ question }) => question)).toEqual(rows.map(({ question }) => question));
    expect(found.map(({ id }) => id)).toEqual([1, '1152921504606846976', -3]);
    expect(found[1]!.at).toBe('2024-01-02T00:00:00.000Z');
  });

  test('Parquet, whose JSON may have integers that a number would round', async () => {
    const number = 1111111111111111200;
    const column = { name: 'call', data: [{ arguments: { id: number, n: 7 } }], type: 'JSON' as const };
    const parquet = parquetWriteBuffer({ columnData: [column], codec: 'UNCOMPRESSED' });
    // The writer rounds too.
    const bytes = Buffer.from(parquet).toString('latin1').replaceAll(String(number), '2512292042121000001');
    const path = await file('json.parquet', new Uint8Array(Buffer.from(bytes, 'latin1')));
    const found = await all(dataset(path, { map: (row) => row }));
    expect(found).toEqual([{ call: { arguments: { id: '2512292042121000001', n: 7 } } }]);
  });
});

test.each(['rows.jsonl', 'rows.json'])(
  '%s: integers beyond 2⁵³ are texts, as those of Parquet',
  async (name) => {
    const row =
      '{"id": 2512292042121000001, "calls": [{"arguments": {"id": -9007199254740993, "n": 9007199254740991}}]}';
    const path = await file(name, name.endsWith('.json') ? `[${row}]` : row);
    expect(await all(dataset(path, { map: (row) => row }))).toEqual([
      {
        id: '2512292042121000001',
        calls: [{ arguments: { id: '-9007199254740993', n: 9007199254740991 } }],
      },
    ]);
  },
);

test('fields that Arrow filled with null count as absent where the schema says so', async () => {
  const schema = {
    type: 'object',
    properties: {
      question: { type: 'string' },
      hint: { type: 'string' },
      level: { type: ['integer', 'null'] },
      facts: { type: 'array', items: { type: 'object', properties: { source: { type: 'string' } } } },
    },
    required: ['question'],
  } as const;
  const row = { question: 'q', hint: null, level: null, facts: [{ source: null }], other: null };
  const path = await file('filled.jsonl', JSON.stringify(row));
  const read = await all(dataset(path, { schema, map: (row) => row }));
  expect(read).toEqual([{ question: 'q', level: null, facts: [{}], other: null }]);
  const missing = await file('missing.jsonl', JSON.stringify({ ...row, question: null }));
  await expect(all(dataset(missing, { schema, map: (row) => row }))).rejects.toMatchObject({
    code: 'usage.broken_record',
    message: expect.stringContaining('/question must be string; received null'),
  });
});

test('the types of rows and tasks follow from the schema, and from map', async () => {
  const schema = {
    type: 'object',
    properties: { question: { type: 'string' }, answer: { type: 'string', minLength: 1 } },
    required: ['question', 'answer'],
  } as const;
  const path = await file('typed.jsonl', jsonl);
  const definition = defineToolEnv({
    name: 'rows-v1',
    description: 'Rows.',
    tasks: {
      train: dataset(path, {
        schema,
        map(row, index) {
          expectTypeOf(row).toEqualTypeOf<{ question: string; answer: string }>();
          return { prompt: row.question, index };
        },
      }),
      test: dataset(path, {
        map: ({ question: prompt }: { question: string }, index) => ({ prompt, index }),
      }),
    },
    rewards: { r: { kind: 'outcome', score: ({ task }) => task.index } },
    episode: ({ task }) => ({ messages: task.prompt }),
  });
  await using env = await openEnv(definition);
  const { train } = env.tasks;
  expectTypeOf(await train.get(0)).toEqualTypeOf<{ prompt: string; index: number }>();
  expect(await train.length).toBe(3);
  expect(await train.get(2)).toEqual({ prompt: 'a,b', index: 2 });
  await expect(train.get(1)).rejects.toMatchObject({
    code: 'usage.broken_record',
    message: `${path}, line 2: /answer must have at least 1 character; received "". Correct the row.`,
  });
  dataset(path, { map: (row) => expectTypeOf(row).toEqualTypeOf<Record<string, unknown>>() });
});

test('a file is opened when its split is used', async () => {
  const later = join(folder, 'later.jsonl');
  const set = dataset(later, { map });
  await writeFile(later, jsonl);
  expect(await set.length).toBe(3);
});

describe('errors name the file, the row and a remedy', () => {
  const failure = async (
    path: string,
    options: Parameters<typeof dataset>[1] = { map: (row: object) => row },
  ) => {
    const set = dataset(path, options as { map: () => unknown });
    const error = await inOrder(set).catch((thrown: unknown) => thrown);
    const { code, message } = error as { code: string; message: string };
    expect(message).not.toContain('\n');
    expect(message.startsWith(path) || message.startsWith(`Cannot read ${path}`)).toBe(true);
    return { code, problem: message.replace(path, 'FILE') };
  };

  const broken: [name: string, content: string | Uint8Array, problem: RegExp][] = [
    ['a.jsonl', `${jsonl.split('\n')[0]}\n\n{"question": `, /^FILE, line 3 is not JSON \(.*\): correct it/],
    ['b.jsonl', '{}\n[1]\n', /^FILE, line 2 is not an object: correct it/],
    ['c.jsonl', Buffer.from(jsonl, 'utf16le'), /^FILE, line 1 is not JSON/],
    ['d.jsonl', Buffer.from(`${mark}${jsonl}`, 'utf16le'), /^FILE is UTF-16 .*: convert it/],
    ['e.jsonl', Buffer.from('{"a":1}\n{"a":"é"}', 'latin1'), /^FILE, line 2 is not UTF-8: convert/],
    ['f.jsonl', '\n \n', /^FILE has no rows: give a file/],
    ['a.json', '[{"a":1},{"a":', /^FILE is not JSON \(it ends too early, after record 1\)/],
    [
      'a.json.gz',
      gzipSync('{}'.repeat(1000)).subarray(0, 20),
      /^FILE is damaged or not whole .*download it again/,
    ],
    ['a.csv', 'a,b\n1,2\n3\n', /^FILE, line 3 is not CSV \(.*length is 2, got 1.*\): correct it/],
    ['b.csv', 'a,b\n1,"2\n', /^FILE, line \d is not CSV \(Quote Not Closed/],
    ['c.csv', 'a,a\n1,2\n', /^FILE, line 1: column 2 is named "a" too: give each/],
    ['d.csv', 'a,b\n', /^FILE has no rows/],
    ['e.csv', '', /^FILE has no rows/],
    ['f.csv', Buffer.from('a\né', 'latin1'), /^FILE is not UTF-8: convert it/],
    ['a.parquet', 'PAR1 and nothing else', /^FILE is damaged or not whole after row 0 .*download it again/],
  ];
  test.each(broken)('%s', async (name, content, problem) => {
    const { code, ...found } = await failure(await file(name, content));
    expect(found.problem).toMatch(problem);
    expect(code).toBe('usage.broken_file');
  });

  // To look for each name in the whole list would take minutes.
  test('a table of 300,000 columns, the last named twice, is refused', { timeout: 60_000 }, async () => {
    const names = Array.from({ length: 300_000 }, (_, index) => `column_${index}`);
    const wide = await file('wide.csv', `${names.join()}\n${names.map((_, index) => index).join()}\n`);
    expect(await dataset(wide, { map: (row: object) => Object.keys(row).length }).get(0)).toBe(300_000);
    const { problem } = await failure(await file('twice.csv', `${names.join()},${names[7]}\n`));
    expect(problem).toBe(
      'FILE, line 1: column 300001 is named "column_7" too: give each column a name of its own.',
    );
  });

  test('a map that fails or gives nothing', async () => {
    const path = await file('mapped.jsonl', jsonl);
    const failing = {
      map: (_: object, index: number) => {
        if (index === 2) throw new Error('no digits\nin it');
        return index;
      },
    };
    expect(await failure(path, failing)).toEqual({
      code: 'usage.broken_record',
      problem: 'FILE, line 3: map failed (no digits in it). Correct the row, or map.',
    });
    const csvPath = await file('mapped.csv', csv);
    expect((await failure(csvPath, failing)).problem).toMatch(/^FILE, line 5: map failed/);
    expect((await failure(csvPath, { map: () => undefined })).problem).toBe(
      'FILE, line 2: map returned undefined. Return a task for each row.',
    );
  });

  test('what is no file', async () => {
    await mkdir(join(folder, 'folder.jsonl'));
    expect(await failure(join(folder, 'folder.jsonl'))).toEqual({
      code: 'usage.missing_file',
      problem: 'FILE is a folder, not a file: give the path of a file in it.',
    });
    for (const name of ['nowhere.jsonl', 'nowhere.csv', 'nowhere.parquet', 'nowhere.zip/a.json'])
      expect((await failure(join(folder, name))).code).toBe('usage.missing_file');
    expect(() => dataset('rows.xlsx', { map: (row) => row })).toThrow(
      'rows.xlsx is of no known format: give a file that ends with .jsonl, .ndjson, .json, .csv, .tsv, .parquet, or with .gz after it.',
    );
  });

  test.skipIf(process.platform === 'win32')('a pipe does not hang', async () => {
    for (const name of ['pipe.jsonl', 'pipe.csv', 'pipe.parquet', 'pipe.json']) {
      execFileSync('mkfifo', [join(folder, name)]);
      expect((await failure(join(folder, name))).problem).toBe(
        'FILE is a pipe or a device, not a file: copy it into a file first.',
      );
    }
  });

  test('a file that changes after it was opened', async () => {
    const path = await file('changing.jsonl', jsonl);
    const set = dataset(path, { map });
    expect(await set.get(0)).toEqual(tasks[0]);
    await appendFile(path, '\n{}\n');
    const changed = {
      code: 'usage.broken_file',
      message: expect.stringContaining('has changed since it was opened'),
    };
    await expect(set.get(0)).rejects.toMatchObject(changed);
    await writeFile(path, jsonl);
    const again = dataset(path, { map });
    expect(await again.length).toBe(3);
    // Of equal length.
    await utimes(path, 1, 1);
    await expect(again.get(0)).rejects.toMatchObject(changed);
  });

  test('a file of 10 GB without a line break', async () => {
    const path = join(folder, 'huge.jsonl');
    const handle = await open(path, 'w');
    await handle.truncate(10e9);
    await handle.close();
    expect((await failure(path)).problem).toBe(
      'FILE, line 1 does not end within 64 MiB: give a file of JSON lines.',
    );
  });
});

test('of JSON lines, 8 bytes a row are kept', async () => {
  const text = 'x'.repeat(500);
  const count = 10_000;
  const path = await file(
    'many.jsonl',
    Array.from({ length: count }, (_, id) => JSON.stringify({ id, text })).join('\n'),
  );
  const before = keptMemory();
  const set = dataset(path, { map: ({ id }: { id: number }) => id });
  expect(await set.length).toBe(count);
  // The file has 5 MB. Node's own buffers vary by some 100 KB, and are freed some time after the collection.
  await vi.waitFor(() => expect(keptMemory() - before).toBeLessThan(1.5e6), { timeout: 10_000 });
  for (const index of [0, 1, 4999, count - 1]) expect(await set.get(index)).toBe(index);
});
