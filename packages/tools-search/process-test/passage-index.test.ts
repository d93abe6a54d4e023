/** Indexes of passages: building, resuming, and searching by words, by vectors and by both. */

import { readdirSync, rmSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import { lockFolder } from '@toolenv/core/files';
import {
  buildPassageIndex,
  type IndexProgress,
  openPassageIndex,
  type SearchHit,
} from '@toolenv/tools-search';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createIndexSearch } from '../src/passages/index-search-v1.ts';
import { fuseRanks } from '../src/passages/passage-index.ts';
import { snippet } from '../src/search-tool.ts';
import { type EmbeddingsServer, startEmbeddings } from '../test/embeddings-server.ts';

let root: string;
let made = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'toolenv-index-'));
});
afterAll(() => rm(root, { recursive: true }));

const corpus = [
  { id: 'a', title: 'Ford', text: 'The automobile was made in Detroit.' },
  { id: 'b', title: 'Rhine', text: 'The stream flows north through wells.' },
  { id: 'c', title: 'Ada', text: 'A monarch of numbers. Running programs.' },
  { id: 'd', title: 'Detroit', text: 'A city. The city made engines.' },
  { id: 'e', title: 'Tie C', text: 'Equal words.' },
  { id: 'f', title: 'Tie B', text: 'Equal words.' },
];

async function corpusFile(lines: object[] = corpus): Promise<string> {
  const path = join(root, `passages-${made++}.jsonl`);
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}
const newFolder = () => join(root, `index-${made++}`);
const titles = (hits: readonly SearchHit[] | undefined) => hits!.map(({ title }) => title);

describe('an index of words', () => {
  let folder: string;
  let passages: string;
  beforeAll(async () => {
    folder = newFolder();
    passages = await corpusFile();
    expect(await buildPassageIndex({ passages, folder })).toBe(6);
  });

  test('finds whole passages, best first, in batches of queries', async () => {
    const index = await openPassageIndex(folder);
    expect({ size: index.size, mode: index.mode }).toEqual({ size: 6, mode: 'bm25' });
    const [first, second] = await index.search(['made in Detroit', 'Rhine'], { limit: 2 });
    expect(titles(first)).toEqual(['Ford', 'Detroit']);
    expect(first![0]!.score).toBeGreaterThan(first![1]!.score);
    expect(second).toEqual([{ ...corpus[1], score: expect.any(Number) }]);
    await index.close();
  });

  test('stems, folds and orders ties by id', async () => {
    const index = await openPassageIndex(folder);
    const [stem, ties, first] = await index.search(['well runs', 'equal', 'EQUÁL'], { limit: 2 });
    expect(titles(stem).sort()).toEqual(['Ada', 'Rhine']);
    expect(titles(ties)).toEqual(['Tie C', 'Tie B']);
    expect(titles(first)).toEqual(['Tie C', 'Tie B']);
    const [none, odd] = await index.search(['', '-"(:*?'], { limit: 2 });
    expect([none, odd]).toEqual([[], []]);
    await index.close();
  });

  test('filters', async () => {
    const index = await openPassageIndex(folder);
    const [hits] = await index.search(['made Detroit'], { limit: 5, filter: "title LIKE 'D%'" });
    expect(titles(hits)).toEqual(['Detroit']);
    await expect(index.search(['made'], { limit: 5, filter: 'no column' })).rejects.toMatchObject({
      code: 'infrastructure.search_index',
    });
    await index.close();
  });

  test('answers a repeated query from its cache', async () => {
    const index = await openPassageIndex(folder);
    const [once] = await index.search(['made'], { limit: 2 });
    const [twice] = await index.search(['made'], { limit: 2 });
    expect(twice).toBe(once);
    await index.close();
  });

  test('is not built again, and refuses other options and another file', async () => {
    const progress: IndexProgress[] = [];
    expect(await buildPassageIndex({ passages, folder, onProgress: (each) => progress.push(each) })).toBe(6);
    expect(progress).toEqual([]);
    for (const other of [{ passages, stem: false }, { passages: await corpusFile(corpus.slice(1)) }]) {
      await expect(buildPassageIndex({ folder, ...other })).rejects.toMatchObject({ code: 'usage.index' });
    }
  });

  test('fills the role of an environment by its reference', async () => {
    const ref = `@toolenv/tools-search/index-search-v1?folder=${folder}&snippet=20`;
    const env = await openEnv('@toolenv/envs-qa/lookup-v1', {}, { tools: { search: ref } });
    const episode = env.episode();
    await episode.reset({ task: await env.tasks.test.get(0), seed: 1 });
    const call = { id: '1', name: 'search', arguments: { query: 'automobile' } };
    const { observation } = await episode.step({ text: '', toolCalls: [call], stopReason: 'tool_call' });
    expect(observation.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Ford: The automobile was…' });
    await episode.close();
    await env.close();
  });
});

test('keeps endings and stop words if asked to', async () => {
  const folder = newFolder();
  await buildPassageIndex({ passages: await corpusFile(), folder, stem: false, stopWords: true });
  const index = await openPassageIndex(folder);
  const [stem, stop] = await index.search(['well', 'through'], { limit: 2 });
  expect([titles(stem), titles(stop)]).toEqual([[], ['Rhine']]);
  await index.close();
});

describe('a build that stops', () => {
  const many = Array.from({ length: 25_000 }, (_, i) => ({
    id: `${i}`,
    title: `T${i}`,
    text: `word${i} all`,
  }));

  test('goes on with the first passage that is missing', async () => {
    const folder = newFolder();
    const passages = await corpusFile(many);
    const stop = new AbortController();
    const first = buildPassageIndex({
      passages,
      folder,
      signal: stop.signal,
      onProgress: ({ passages: done }) => done > 0 && stop.abort(new Error('stopped')),
    });
    await expect(first).rejects.toThrow('stopped');
    await expect(openPassageIndex(folder)).rejects.toMatchObject({ code: 'usage.half_index' });

    const progress: IndexProgress[] = [];
    const count = await buildPassageIndex({ passages, folder, onProgress: (each) => progress.push(each) });
    expect(count).toBe(25_000);
    expect(progress.map(({ stage, passages }) => [stage, passages])).toEqual([
      ['adding', 10_000],
      ['adding', 20_000],
      ['adding', 25_000],
      ['merging', 25_000],
      ['indexing words', 25_000],
    ]);
    // A search opens the files of its hits, so many batches become one file.
    expect(await readdir(join(folder, 'passages.lance/data'))).toHaveLength(1);
    const index = await openPassageIndex(folder);
    const asked = ['word0', 'word9999', 'word10000', 'word24999'];
    const hits = await index.search(asked, { limit: 3 });
    expect(hits.map(titles)).toEqual([['T0'], ['T9999'], ['T10000'], ['T24999']]);
    await index.close();
  });

  test('keeps a second build out, and stops once it has lost its folder', async () => {
    const folder = newFolder();
    const passages = await corpusFile(many);
    const lock = await lockFolder(folder);
    const inUse = { code: 'usage.folder_in_use' };
    await expect(buildPassageIndex({ passages, folder })).rejects.toMatchObject(inUse);
    await lock.release();
    const first = buildPassageIndex({
      passages,
      folder,
      onProgress({ passages: done }) {
        // What a successor does once the first has stood still for long.
        if (done === 10_000)
          for (const name of readdirSync(folder)) if (name.startsWith('lock-')) rmSync(join(folder, name));
      },
    });
    await expect(first).rejects.toMatchObject({ code: 'infrastructure.folder_lost' });
    expect(await buildPassageIndex({ passages, folder })).toBe(25_000);
    expect((await readdir(folder)).filter((name) => name.startsWith('lock-'))).toEqual([]);
  });

  test('at a broken line goes on once the line is repaired', async () => {
    const folder = newFolder();
    const passages = await corpusFile(many);
    const text = many.map((line) => JSON.stringify(line));
    await writeFile(passages, text.toSpliced(15_000, 1, '{"id": "15000", "ti').join('\n'));
    await expect(buildPassageIndex({ passages, folder })).rejects.toMatchObject({
      code: 'usage.passages',
      message: expect.stringContaining('line 15001, is not JSON: repair or remove the line'),
    });
    await writeFile(passages, text.toSpliced(15_000, 1).join('\n'));
    const begun: number[] = [];
    const onProgress = ({ passages: done }: IndexProgress) => void begun.push(done);
    expect(await buildPassageIndex({ passages, folder, onProgress })).toBe(24_999);
    expect(begun[0]).toBe(10_000);
    const index = await openPassageIndex(folder);
    const hits = await index.search(['word9999', 'word14999', 'word15000', 'word15001'], { limit: 3 });
    expect(hits.map(titles)).toEqual([['T9999'], ['T14999'], [], ['T15001']]);
    await index.close();
  });

  test('does not go on with the passages of another file', async () => {
    const folder = newFolder();
    const half = [...many.slice(0, 10_000), { id: 1, text: 2 }];
    await expect(buildPassageIndex({ passages: await corpusFile(half as object[]), folder })).rejects.toThrow(
      'line 10001',
    );
    for (const other of [many.slice(1), many.slice(0, 9_000)]) {
      await expect(buildPassageIndex({ passages: await corpusFile(other), folder })).rejects.toMatchObject({
        code: 'usage.index',
      });
    }
  });

  test('says so for a folder without an index', async () => {
    await expect(openPassageIndex(newFolder())).rejects.toMatchObject({ code: 'usage.no_index' });
    await expect(createIndexSearch({ documents: [], topK: 1 }, { folder: root })).rejects.toMatchObject({
      code: 'usage.no_index',
    });
  });
});

describe('half an index', () => {
  test.each([
    ['the passages', /^passages\.lance$/],
    ['their newest version', /^passages\.lance\/_versions\/\d*3\.manifest$/],
    ['the index of the words', /^passages\.lance\/_indices$/],
    ['a part of that index', /\/part_\d+_tokens\.lance$/],
  ])('without %s is not searched, and is completed by the same command', async (_, lost) => {
    const [whole, folder] = [newFolder(), newFolder()];
    const passages = await corpusFile();
    await buildPassageIndex({ passages, folder: whole });
    await cp(whole, folder, { recursive: true });
    const names = (await readdir(folder, { recursive: true })).filter((name) => lost.test(name));
    expect(names).toHaveLength(1);
    await rm(join(folder, names[0]!), { recursive: true });
    await expect(openPassageIndex(folder)).rejects.toMatchObject({ code: 'usage.half_index' });
    expect(await buildPassageIndex({ passages, folder })).toBe(6);
    const index = await openPassageIndex(folder);
    expect((await index.search(['made in Detroit'], { limit: 2 })).map(titles)).toEqual([
      ['Ford', 'Detroit'],
    ]);
    await index.close();
  });

  test('without texts fails as infrastructure, and says what to do', async () => {
    const folder = newFolder();
    await buildPassageIndex({ passages: await corpusFile(), folder });
    await rm(join(folder, 'passages.lance', 'data'), { recursive: true });
    const index = await openPassageIndex(folder);
    await expect(index.search(['made'], { limit: 2 })).rejects.toMatchObject({
      code: 'infrastructure.search_index',
      message: expect.stringMatching(/missing or damaged, delete the index and build it again\.$/),
    });
    await index.close();
  });
});

describe('an index with vectors', () => {
  let server: EmbeddingsServer;
  let folder: string;
  const embeddingModel = 'topics';
  beforeAll(async () => {
    server = await startEmbeddings();
    folder = newFolder();
    // A server that is busy, and one that returns garbage, are asked again.
    server.faults.push(503, '<html>', '{"data": [{"embedding": []}]}');
    await buildPassageIndex({ passages: await corpusFile(), folder, embeddings: server.url, embeddingModel });
  });
  beforeEach(() => void server.requests.splice(0));
  afterAll(() => server.close());

  test('finds by meaning', async () => {
    const index = await openPassageIndex(folder, { mode: 'vector' });
    const hits = await index.search(['car', 'river', 'queen'], { limit: 1 });
    expect(hits.map(titles)).toEqual([['Ford'], ['Rhine'], ['Ada']]);
    expect(hits[0]![0]!.score).toBeCloseTo(1, 3);
    expect(server.requests).toEqual([['car', 'river', 'queen']]);
    await index.close();
  });

  test('merges both rankings by their ranks', async () => {
    const index = await openPassageIndex(folder);
    expect(index.mode).toBe('hybrid');
    // By words, Detroit alone matches "engines"; by meaning, Ford is nearest to "car".
    const [hits] = await index.search(['car engines'], { limit: 2 });
    expect(titles(hits).sort()).toEqual(['Detroit', 'Ford']);
    await index.close();
  });

  test('keeps what is embedded when the server fails, and goes on', async () => {
    const passages = await corpusFile(
      Array.from({ length: 5_000 }, (_, i) => ({ id: `${i}`, text: `car${i}` })),
    );
    const build = { passages, folder: newFolder(), embeddings: server.url, embeddingModel };
    const failAt = (count: number, fault: number | string) =>
      buildPassageIndex({
        ...build,
        onProgress: ({ passages: done }) => void (done === count && server.faults.push(fault)),
      });
    await expect(failAt(2_000, 400)).rejects.toMatchObject({ code: 'infrastructure.embeddings' });
    const short = JSON.stringify({ data: Array.from({ length: 64 }, () => ({ embedding: [1] })) });
    await expect(failAt(2_000, short)).rejects.toMatchObject({
      code: 'usage.embeddings',
      message: expect.stringContaining('have 1 numbers, and those in the index 4'),
    });
    expect(server.faults).toEqual([]);
    const begun: number[] = [];
    const onProgress = ({ passages: done }: IndexProgress) => void begun.push(done);
    expect(await buildPassageIndex({ ...build, onProgress })).toBe(5_000);
    expect(begun).toEqual([2_000, 4_000, 5_000, 5_000, 5_000]);
  });

  test('fails as infrastructure when the server is gone, and aborts the episode', async () => {
    const gone = await startEmbeddings();
    await gone.close();
    const index = await openPassageIndex(folder, { mode: 'vector', embeddings: gone.url });
    await expect(index.search(['car'], { limit: 1 })).rejects.toMatchObject({
      code: 'infrastructure.embeddings',
    });
    await index.close();

    const search = () => createIndexSearch({ documents: [], topK: 1 }, { folder, embeddings: gone.url });
    const env = await openEnv('@toolenv/envs-qa/lookup-v1', {}, { tools: { search } });
    const episode = env.episode();
    await episode.reset({ task: await env.tasks.test.get(0), seed: 1 });
    const call = { id: '1', name: 'search', arguments: { query: 'car' } };
    const { outcome, rewards } = await episode.step({
      text: '',
      toolCalls: [call],
      stopReason: 'tool_call',
    });
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.embeddings' } });
    expect(rewards).toBeUndefined();
    await episode.close();
    await env.close();
  });
});

test('vectors need embeddings', async () => {
  const folder = newFolder();
  await buildPassageIndex({ passages: await corpusFile(), folder });
  await expect(openPassageIndex(folder, { mode: 'hybrid' })).rejects.toMatchObject({
    code: 'usage.no_vectors',
  });
});

test('reciprocal rank fusion adds 1/(60 + rank)', () => {
  const hit = (id: string) => ({ id, title: id, text: '', score: 9 });
  const fused = fuseRanks([['a', 'b', 'c'].map(hit), ['c', 'd', 'a'].map(hit)], 3);
  expect(fused.map(({ id, score }) => [id, score])).toEqual([
    ['a', 1 / 61 + 1 / 63],
    ['c', 1 / 63 + 1 / 61],
    ['b', 1 / 62],
  ]);
});

test.each([
  ['short', 'x', 20, 'short'],
  ['one two three four five six seven', 'six', 12, '…five six…'],
  ['one two three four five six seven', 'nothing', 12, 'one two…'],
  ['one two three four', 'three FOUR', 10, '…three four'],
])('the snippet of %j for %j has the words of the query', (text, query, characters, expected) => {
  expect(snippet(text, query, characters)).toBe(expected);
});
