/** Datasets of the Hugging Face Hub, against a stand-in of the Hub. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataset } from '@toolenv/dataset';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { StandInHub } from '../../hub/test/stand-in-hub.ts';

let hub: StandInHub;
let home: string;
beforeEach(async () => {
  hub = await new StandInHub().listen();
  home = await mkdtemp(join(tmpdir(), 'toolenv-hub-split-'));
  for (const [variable, value] of Object.entries(hub.variables(home))) vi.stubEnv(variable, value);
});
afterEach(async () => {
  hub.close();
  await rm(home, { recursive: true, force: true });
});

const parquet = (...questions: string[]) =>
  Buffer.from(parquetWriteBuffer({ columnData: [{ name: 'question', data: questions, type: 'STRING' }] }));
const jsonl = (...questions: string[]) =>
  questions.map((question) => JSON.stringify({ question })).join('\n');

interface Asked {
  split?: string;
  config?: string;
  file?: string;
}

async function questions(name: string, asked: Asked = {}): Promise<string[]> {
  const set = dataset(name, { ...asked, map: (row: { question: string }) => row.question });
  return Promise.all(Array.from({ length: await set.length }, (_, index) => set.get(index)));
}

/** The files of the repository of that name. */
const gsm8k = {
  'README.md': '---',
  'main/train-00000-of-00002.parquet': parquet('a', 'b'),
  'main/train-00001-of-00002.parquet': parquet('c'),
  'main/test-00000-of-00001.parquet': parquet('d'),
  'socratic/train-00000-of-00001.parquet': parquet('e'),
  'socratic/test-00000-of-00001.parquet': parquet('f'),
};

test('a split of a configuration is fetched, and no other file', async () => {
  hub.add('openai/gsm8k', gsm8k, { type: 'datasets' });
  const set = dataset('hf:openai/gsm8k', { config: 'main', map: (row) => row });
  expect(hub.seen).toEqual([]);
  expect(await set.length).toBe(3);
  expect(await questions('hf:openai/gsm8k', { config: 'main' })).toEqual(['a', 'b', 'c']);
  expect(hub.parts('storage')).toHaveLength(2);
  expect(hub.parts('file')[0]!.path).toMatch(/^\/datasets\/openai\/gsm8k\/resolve\/[0-9a-f]{40}\/main\//);
  hub.close();
  vi.stubEnv('HF_HUB_OFFLINE', '1');
  expect(await questions('hf:openai/gsm8k@main', { config: 'main' })).toEqual(['a', 'b', 'c']);
});

describe.each<[string, Record<string, Buffer | string>, Asked, string[]]>([
  [
    'a folder data',
    { 'data/train-00000-of-00001.parquet': parquet('a'), 'data/test-00000-of-00001.parquet': parquet('b') },
    { split: 'test' },
    ['b'],
  ],
  [
    'folders of splits',
    { 'train/1.jsonl': jsonl('a'), 'train/2.jsonl': jsonl('b'), 'dev/1.jsonl': jsonl('c') },
    {},
    ['a', 'b'],
  ],
  [
    'another name of the split',
    { 'train.jsonl': jsonl('a'), 'dev.jsonl': jsonl('c') },
    { split: 'validation' },
    ['c'],
  ],
  ['one file', { 'questions.jsonl': jsonl('a', 'b'), 'dataset_infos.json': '{}' }, {}, ['a', 'b']],
  ['two formats', { 'train.jsonl': jsonl('a'), 'train.parquet': parquet('b') }, {}, ['b']],
  [
    'a split of its own name',
    {
      'data/train_sft-00000-of-00001.parquet': parquet('a'),
      'data/train_gen-00000-of-00001.parquet': parquet('b'),
    },
    { split: 'train_sft' },
    ['a'],
  ],
  [
    'a converted branch',
    { 'default/train/0000.parquet': parquet('a'), 'other/train/0000.parquet': parquet('b') },
    {},
    ['a'],
  ],
  [
    'a prefix',
    { 'hotpot_train_v1.json': '[{"question": "a"}]', 'hotpot_dev_v1.json': '[{"question": "b"}]' },
    {},
    ['a'],
  ],
  [
    'a file that is named',
    { 'odd/one.csv': 'question\na', 'two.csv': 'question\nb' },
    { file: 'odd/one.csv' },
    ['a'],
  ],
])('a repository with %s', (_, files, asked, expected) => {
  test('gives its split', async () => {
    hub.add('some/data', files, { type: 'datasets' });
    expect(await questions('hf:some/data', asked)).toEqual(expected);
  });
});

test.each<[string, Asked, string, RegExp]>([
  [
    'hf:openai/gsm8k',
    {},
    'usage.dataset',
    /has the configurations main, socratic: name one with the option config/,
  ],
  ['hf:openai/gsm8k', { config: 'mian' }, 'usage.dataset', /has the configurations main, socratic/],
  [
    'hf:openai/gsm8k',
    { split: 'validation' },
    'usage.dataset',
    /no split validation that can be read: its splits are test, train/,
  ],
  ['hf:openai/gsm8k', { file: 'x.csv' }, 'usage.dataset', /no file x.csv/],
  ['hf:gsm8k', {}, 'usage.dataset', /write hf:<owner>\/<name>/],
  ['hf:openai/none', {}, 'usage.hub_access', /no such dataset/],
])('%s with %j is refused', async (name, asked, code, message) => {
  hub.add('openai/gsm8k', gsm8k, { type: 'datasets' });
  const error = await questions(name, asked).then(
    () => expect.fail(),
    (thrown) => thrown,
  );
  expect(error.code).toBe(code);
  expect(error.message).toMatch(message);
  expect(hub.parts('file')).toEqual([]);
});

test('the options of the Hub are refused for a file', () => {
  expect(() => dataset('train.jsonl', { split: 'test', map: (row) => row })).toThrow(
    /split is an option of datasets of the Hugging Face Hub/,
  );
});
