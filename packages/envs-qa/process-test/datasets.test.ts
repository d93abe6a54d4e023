/** Files in the formats of HotpotQA, 2WikiMultihopQA and MuSiQue, made from a synthetic world. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { type Action, type EnvDefinition, openEnv, type ToolFactory, type Transition } from '@toolenv/core';
import {
  bridgeQuestions,
  comparisonQuestions,
  createWorld,
  type DatasetOptions,
  type QaRecord,
  type QaTask,
} from '@toolenv/envs-qa';
import wikimultihop, { type WikimultihopOptions } from '@toolenv/envs-qa/2wikimultihopqa-v1';
import hotpotqa from '@toolenv/envs-qa/hotpotqa-v1';
import musiqueFull from '@toolenv/envs-qa/musique-full-v1';
import musique from '@toolenv/envs-qa/musique-v1';
import { createSearchTool, type SearchMaterial } from '@toolenv/tools-search';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  aliasLines,
  toMusique,
  toMusiqueFull,
  toWikimultihop,
  worldRecords,
} from '../../../workshop/datasets/world-dataset.ts';
import { zip } from '../../core/test/zip.ts';
import { hotpotFormat } from '../src/datasets/hotpotqa-format.ts';
import { musiqueFormat } from '../src/datasets/musique-format.ts';
import { type RecordFormat, streamRecords } from '../src/datasets/read-records.ts';
import { wikimultihopFormat } from '../src/datasets/wikimultihop-format.ts';

const items = worldRecords([bridgeQuestions, comparisonQuestions], {
  seed: 1,
  split: 'validation',
  count: 60,
});
const jsonl = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const texts = {
  hotpotqa: JSON.stringify(items.map(({ record }) => record)),
  '2wikimultihopqa': JSON.stringify(items.map(toWikimultihop), null, 2),
  musique: jsonl(items.map(toMusique)),
  'musique-full': jsonl(items.flatMap(toMusiqueFull)),
};
const formats: [name: keyof typeof texts, format: RecordFormat][] = [
  ['hotpotqa', hotpotFormat],
  ['2wikimultihopqa', wikimultihopFormat],
  ['musique', musiqueFormat],
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-datasets-'));
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
  await writeFile(join(folder, 'id_aliases.json'), jsonl(aliasLines(createWorld(1))));
});
afterAll(() => rm(folder, { recursive: true }));

const at = (name: string) => join(folder, name);

async function read(path: string, format: RecordFormat): Promise<QaRecord[]> {
  const records: QaRecord[] = [];
  for await (const record of streamRecords(path, format)) records.push(record);
  return records;
}

async function failure(path: string, format: RecordFormat): Promise<{ code: string; message: string }> {
  const error = await read(path, format).catch((thrown) => thrown);
  expect(error.message).not.toContain('\n');
  expect(error.message).toContain(path);
  return error;
}

function search(query: string): Action {
  const call = { id: 'c', name: 'search', arguments: { query } };
  return { text: '', toolCalls: [call], stopReason: 'tool_call' };
}

function answer(text: string): Action {
  return { text: `<answer>${text}</answer>`, toolCalls: [], stopReason: 'stop' };
}

/** Opens an environment on a whole file as its test split. */
function open<Options extends DatasetOptions>(
  definition: EnvDefinition<QaTask, Options>,
  options: Options,
  search: ToolFactory = createSearchTool as ToolFactory,
) {
  return openEnv(definition, { testPath: options.path, ...options }, { tools: { search } });
}

async function play<Options extends DatasetOptions>(
  definition: EnvDefinition<QaTask, Options>,
  options: Options,
  choose: (task: QaTask) => boolean,
  actions: (task: QaTask) => Action[],
): Promise<Transition[]> {
  const opened = await open(definition, options);
  const { test: tasks } = opened.tasks;
  const all = await Promise.all(Array.from({ length: await tasks.length }, (_, i) => tasks.get(i)));
  const task = all.find(choose)!;
  const env = opened.episode();
  await env.reset({ task, seed: 1 });
  const transitions: Transition[] = [];
  for (const action of actions(task)) transitions.push(await env.step(action));
  await env.close();
  await opened.close();
  return transitions;
}

describe.each(formats)('files of %s', (name, format) => {
  test('may be plain, packed by gzip, or a member of an archive', async () => {
    const plain = await read(at(name), format);
    expect(plain.length).toBe(120);
    expect(plain.map(({ question }) => question)).toEqual(items.map(({ record }) => record.question));
    await writeFile(at('packed.gz'), gzipSync(texts[name]));
    await writeFile(
      at('data.zip'),
      zip({
        'data/train.json': texts[name],
        'data/dev.json': '[]',
        '__MACOSX/data/train.json': 'x',
      }),
    );
    await writeFile(at('single.zip'), zip({ 'train.json': texts[name] }));
    const paths = ['packed.gz', 'data.zip/data/train.json', 'data.zip/train.json', 'single.zip'];
    for (const path of paths) expect(await read(at(path), format)).toEqual(plain);
  });

  test('that are half-written, damaged or in another encoding give one clear error', async () => {
    const [bytes, packed] = [Buffer.from(texts[name]), gzipSync(texts[name])];
    await writeFile(at('whole.zip'), zip({ 'a.json': texts[name], 'b.json': '[]' }));
    const files: [name: string, content: Buffer, expected: RegExp][] = [
      ['half.json', bytes.subarray(0, bytes.length / 2), /after record \d+\): give a whole file/],
      [
        'half.gz',
        packed.subarray(0, packed.length / 2),
        /not whole after record \d+ .*: download it again\.$/,
      ],
      ['half.zip', Buffer.from('PK\x03\x04 and no directory'), /not whole before.*: download it again\.$/],
      ['flipped.gz', flipped(packed), /(damaged|not JSON).*again\.$/],
      [
        'latin.json',
        Buffer.from(texts[name].replace('city', 'cité'), 'latin1'),
        /record \d+ is not UTF-8: convert/,
      ],
      ['utf16.json', Buffer.from(`\ufeff${texts[name]}`, 'utf16le'), /is UTF-16 .*iconv/],
      ['page.json', Buffer.from('<html>Not found</html>'), /unexpected "<html>Not found<.*" at byte 0/],
    ];
    for (const [file, content, expected] of files) {
      await writeFile(at(file), content);
      const { code, message } = await failure(at(file), format);
      expect([file, code]).toEqual([file, 'usage.broken_file']);
      expect(message).toMatch(expected);
    }
    const { code, message } = await failure(at('whole.zip'), format);
    expect(code).toBe('usage.zip_member');
    expect(message).toContain(`give one of ${at('whole.zip')}/a.json, ${at('whole.zip')}/b.json`);
    expect((await failure(at('nowhere.zip/a.json'), format)).code).toBe('usage.missing_file');
  });

  test('with a broken record name the record, its id, the field and a remedy', async () => {
    const plain = await read(at(name), format);
    const values = name === 'musique' ? items.map(toMusique) : JSON.parse(texts[name]);
    const broken = values.map((value: object, i: number) => (i === 41 ? { ...value, answer: 7 } : value));
    await writeFile(at('broken.json'), jsonl(broken));
    const { code, message } = await failure(at('broken.json'), format);
    expect(code).toBe('usage.broken_record');
    const id = JSON.stringify(plain[41]!._id);
    expect(message).toContain(
      `record 42 (${format.id} ${id}): /answer must be string; received 7. Make "answer" a string that is not empty`,
    );
  });
});

/** The middle byte with other bits. */
function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[bytes.length >> 1]! ^= 0xff;
  return copy;
}

test('a member of an archive with another checksum is damaged', async () => {
  await writeFile(at('changed.zip'), zip({ 'train.json': texts.hotpotqa }));
  const bytes = await readFile(at('changed.zip'));
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crc32(texts.hotpotqa));
  // In the directory at the end, by which archives are read.
  bytes[bytes.lastIndexOf(checksum)]! ^= 1;
  await writeFile(at('changed.zip'), bytes);
  const { code, message } = await failure(at('changed.zip/train.json'), hotpotFormat);
  expect(code).toBe('usage.broken_file');
  expect(message).toMatch(
    /is damaged or not whole after record 120 \(its checksum is wrong\): download it again\.$/,
  );
});

test.each([
  [
    '{"Q_id": "Q1", "aliases": "A", "demonyms": []}\n',
    'usage.broken_record',
    'record 1: /aliases must be array',
  ],
  ['{"Q_id": "Q1", "aliases": [], "demonyms": []}\n{"Q_id"', 'usage.broken_file', 'after record 1'],
  ['{"Q_id": "Qé", "aliases": [], "demonyms": []}', 'usage.broken_file', 'record 1 is not UTF-8'],
])('a broken file of aliases is one error: %s', async (text, code, expected) => {
  await writeFile(at('aliases.json'), Buffer.from(text, 'latin1'));
  const opening = open(wikimultihop, { path: at('2wikimultihopqa'), aliasPath: at('aliases.json') });
  await expect(opening).rejects.toMatchObject({ code, message: expect.stringContaining(expected) });
});

test('a quote that nobody closes does not collect the rest of the file', async () => {
  const half = texts.hotpotqa.slice(0, -3);
  await writeFile(at('open.json'), `${half}${' '.repeat(65 * 2 ** 20)}`);
  const { message } = await failure(at('open.json'), hotpotFormat);
  expect(message).toContain('record 120 does not end within 64 MiB');
});

describe('sampling', () => {
  const idsOf = async (options: Partial<DatasetOptions>) => {
    const opened = await open(hotpotqa, { path: at('hotpotqa'), corpus: 'question', ...options });
    const { train, test: tests } = opened.tasks;
    const ids = async (tasks: typeof train) => {
      const all = Array.from({ length: await tasks.length }, (_, i) => tasks.get(i));
      return (await Promise.all(all)).map(({ _id }) => _id);
    };
    await opened.close();
    return { train: await ids(train), test: await ids(tests) };
  };

  test('draws a number of records, the same for a seed and others for another', async () => {
    const all = await idsOf({});
    expect(all.test.length).toBe(120);
    const drawn = await idsOf({ trainCount: 20, testCount: 30 });
    expect([drawn.train.length, drawn.test.length]).toEqual([20, 30]);
    expect(new Set(drawn.test).size).toBe(30);
    expect(all.test).toEqual(expect.arrayContaining(drawn.test));
    expect(await idsOf({ trainCount: 20, testCount: 30 })).toEqual(drawn);
    const other = await idsOf({ trainCount: 20, testCount: 30, sampleSeed: 1 });
    expect(other.test).not.toEqual(drawn.test);
    expect((await idsOf({ trainCount: 0, testCount: 1000 })).train).toEqual([]);
  });

  test('does not read a file of which no record is drawn', async () => {
    const none = { path: at('nowhere.json'), testPath: at('hotpotqa'), trainCount: 0 };
    await expect(idsOf(none)).rejects.toMatchObject({ code: 'usage.missing_file' });
    const { train, test: asked } = await idsOf({ ...none, validationCount: 0, testCount: 5 });
    expect([train.length, asked.length]).toEqual([0, 5]);
    await idsOf({ path: at('hotpotqa'), testPath: at('nowhere.json'), testCount: 0 });
  });

  test('gives every record the same chance', async () => {
    const drawn = new Map<string, number>();
    const seeds = 60;
    for (let sampleSeed = 0; sampleSeed < seeds; sampleSeed++) {
      for (const id of (await idsOf({ testCount: 30, sampleSeed })).test)
        drawn.set(id, (drawn.get(id) ?? 0) + 1);
    }
    const order = items.map(({ record }) => drawn.get(record._id) ?? 0);
    const mean = (part: number[]) => part.reduce((sum, count) => sum + count, 0) / part.length;
    // 15 of 60 draws each; the mean over 40 records has a standard deviation of 0.5.
    for (const third of [order.slice(0, 40), order.slice(40, 80), order.slice(80)])
      expect(Math.abs(mean(third) - 15)).toBeLessThan(2.5);
  });
});

describe('tasks keep what their records know', () => {
  const first = async <Options extends DatasetOptions>(
    definition: EnvDefinition<QaTask, Options>,
    options: Options,
    choose: (task: QaTask) => boolean = () => true,
  ) => {
    const opened = await open(definition, options);
    const { test: tasks } = opened.tasks;
    await opened.close();
    const all = await Promise.all(Array.from({ length: await tasks.length }, (_, i) => tasks.get(i)));
    return all.find(choose)!;
  };

  test('2WikiMultihopQA: aliases, evidences and their ids', async () => {
    const options = { path: at('2wikimultihopqa'), aliasPath: at('id_aliases.json') };
    const task = await first(wikimultihop, options);
    const { record, hops, aliases } = items[0]!;
    expect(task).toMatchObject({ _id: record._id, answer: record.answer, aliases, type: 'compositional' });
    expect(task.supporting_facts).toEqual(record.supporting_facts);
    expect(task.evidences).toEqual(hops.map((hop) => [hop.subject, hop.relation, hop.object]));
    expect(task.evidences_id?.length).toBe(2);
    expect(task).not.toHaveProperty('context');
    const closed = await first(wikimultihop, options, (each) => each.answer === 'yes');
    expect([closed.type, closed.aliases, closed.answer_id]).toEqual(['comparison', undefined, null]);
    const bare: WikimultihopOptions = { path: at('2wikimultihopqa') };
    expect(await first(wikimultihop, bare)).not.toHaveProperty('aliases');
  });

  test('MuSiQue: aliases, hops and their paragraphs', async () => {
    const { record, hops, aliases } = items[0]!;
    const task = await first(musique, { path: at('musique') });
    expect(task).toMatchObject({ _id: `2hop__${record._id}`, type: '2hop', aliases, answerable: true });
    expect(task.question_decomposition!.map(({ question }) => question)).toEqual([
      `${hops[0]!.subject} >> ${hops[0]!.relation}`,
      `#1 >> ${hops[1]!.relation}`,
    ]);
    expect(task.supporting_paragraphs!.map(([title]) => title)).toEqual(hops.map(({ subject }) => subject));
  });

  test('an alias counts as the answer', async () => {
    const options = { path: at('2wikimultihopqa'), aliasPath: at('id_aliases.json') };
    const aliased = (task: QaTask) => task.aliases !== undefined;
    const byAlias = (task: QaTask) => [answer(task.aliases![0]!)];
    const [scored] = await play(wikimultihop, options, aliased, byAlias);
    expect(scored!.rewards).toMatchObject({ em: 1, f1: 1, substring: 1, searches: 0 });
    const [also] = await play(musique, { path: at('musique') }, aliased, byAlias);
    expect(also!.rewards).toMatchObject({ em: 1, f1: 1 });
    const [not] = await play(
      wikimultihop,
      { path: at('2wikimultihopqa') },
      ({ _id }) => _id === items[0]!.record._id,
      () => [answer(items[0]!.aliases[0]!)],
    );
    expect(not!.rewards).toMatchObject({ em: 0 });
  });
});

describe('facts are credited as process rewards', () => {
  test('each gold document once, and searches are counted', async () => {
    const { subject, object } = items[0]!.hops[0]!;
    const actions = [search(subject), search(subject), search(object), answer('x')];
    for (const [definition, path] of [
      [hotpotqa, 'hotpotqa'],
      [wikimultihop, '2wikimultihopqa'],
      [musique, 'musique'],
    ] as const) {
      const of = (task: QaTask) => task._id.endsWith(items[0]!.record._id);
      const transitions = await play(definition, { path: at(path), topK: 1 }, of, () => actions);
      const found = transitions.map(({ rewards }) => rewards!.retrieved);
      expect(found).toEqual([0.5, 0, 0.5, undefined]);
      expect(transitions.at(-1)!.rewards).toMatchObject({ searches: 3, recall: 1, em: 0 });
    }
  });

  test('of paragraphs with one title, only the supporting one counts in MuSiQue', async () => {
    const paragraph = (idx: number, title: string, paragraph_text: string, is_supporting: boolean) => ({
      ...{ idx, title, paragraph_text, is_supporting },
    });
    const record = {
      id: '2hop__1_2',
      question: 'q?',
      answer: 'Nile',
      answer_aliases: [],
      answerable: true,
      paragraphs: [
        paragraph(0, 'Egypt', 'Weather in the desert is dry.', false),
        paragraph(1, 'Egypt', 'Rivers: the   Nile flows\nnorth.', true),
        paragraph(2, 'Delta', 'A delta is a landform.', true),
      ],
      question_decomposition: [
        { id: 1, question: 'a', answer: 'Delta', paragraph_support_idx: 2 },
        { id: 2, question: '#1', answer: 'Nile', paragraph_support_idx: 1 },
      ],
    };
    await writeFile(at('same-title.jsonl'), jsonl([record]));
    const transitions = await play(
      musique,
      { path: at('same-title.jsonl'), topK: 1 },
      () => true,
      () => [search('weather desert dry'), search('Nile rivers')],
    );
    expect(transitions[0]!.calls[0]!.text).toBe('Egypt: Weather in the desert is dry.');
    expect(transitions.map(({ rewards }) => rewards!.retrieved)).toEqual([0, 0.5]);
  });
});

describe('the corpus', () => {
  const path = () => at('hotpotqa');
  const lines = async (options: Partial<DatasetOptions>, factory?: ToolFactory) => {
    const opened = await open(
      hotpotqa,
      { path: path(), topK: 100, maxToolCharacters: 1e6, ...options },
      factory,
    );
    const env = opened.episode();
    const task = await opened.tasks.test.get(0);
    await env.reset({ task, seed: 1 });
    const { calls } = await env.step(search('the is a person city film in of'));
    await env.close();
    await opened.close();
    return calls[0]!.text.split('\n').length;
  };

  test('is all contexts, or the paragraphs of the question', async () => {
    expect(await lines({})).toBe(100);
    expect(await lines({ corpus: 'question' })).toBeLessThanOrEqual(items[0]!.record.context.length);
  });

  test('may be an index that the tool has elsewhere', async () => {
    const opening = open(hotpotqa, { path: path(), corpus: 'elsewhere' });
    await expect(opening).rejects.toMatchObject({ code: 'usage.corpus' });
    await expect(opening).rejects.toThrow('--tool search=');
    const own: ToolFactory = (material) =>
      createSearchTool({ ...(material as SearchMaterial), documents: [{ title: 'A', text: 'a city' }] });
    expect(await lines({ corpus: 'elsewhere' }, own)).toBe(1);
  });

  test('of fullwiki records need not have the gold paragraphs, nor any', async () => {
    const wiki = items.map(({ record }, i) => ({ ...record, context: i === 0 ? [] : record.context }));
    await writeFile(at('fullwiki.json'), JSON.stringify(wiki));
    const opened = await open(hotpotqa, { path: at('fullwiki.json') });
    expect(opened.tasks.test.length).toBe(120);
    await opened.close();
  });
});

describe('MuSiQue-Full', () => {
  const path = () => at('musique-full');

  test('musique-v1 asks the questions that can be answered', async () => {
    const opened = await open(musique, { path: path() });
    expect(opened.tasks.test.length).toBe(120);
    expect(musique.rewards).not.toHaveProperty('answerable');
    await opened.close();
  });

  test.each([
    [true, 'unanswerable', { em: 0, correct: 0, answerable: 0 }],
    [true, 'something', { em: 0, correct: 0, answerable: 1 }],
    [false, 'Unanswerable.', { em: null, f1: null, substring: null, correct: 1, answerable: 1 }],
    [false, 'something', { em: null, correct: 0, answerable: 0 }],
  ])('answerable %s, answer %j', async (answerable, said, expected) => {
    const [scored] = await play(
      musiqueFull,
      { path: path() },
      (task) => task.answerable === answerable,
      () => [answer(said)],
    );
    expect(scored!.rewards).toMatchObject(expected);
  });

  test('the right answer is correct', async () => {
    const of = (task: QaTask) => task.answerable === true;
    const [scored] = await play(musiqueFull, { path: path() }, of, (task) => [answer(task.answer)]);
    expect(scored!.rewards).toMatchObject({ em: 1, correct: 1, answerable: 1 });
  });

  test('searches the paragraphs of the question alone, without that of the lost hop', async () => {
    const lost = items[0]!.hops.at(-1)!.subject;
    const found = async (answerable: boolean) => {
      const of = (task: QaTask) => task.answerable === answerable;
      const [shown] = await play(musiqueFull, { path: path(), topK: 10 }, of, () => [search(lost)]);
      return shown!.calls[0]!.text.includes(`${lost}: `);
    };
    expect([await found(true), await found(false)]).toEqual([true, false]);
  });

  test('asks the model to say so', async () => {
    const opened = await open(musiqueFull, { path: path() });
    const { messages } = await opened.episode().reset({ task: await opened.tasks.test.get(0), seed: 1 });
    expect(messages[0]!.content).toContain('Answer unanswerable if the documents do not contain the answer.');
    await opened.close();
  });
});
