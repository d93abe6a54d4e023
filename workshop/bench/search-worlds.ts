/** Recall on the synthetic worlds: one search with the question finds this share of its supporting documents. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bridgeQuestions,
  comparisonQuestions,
  composeQuestions,
  createQuestions,
  createWorld,
  goldTitles,
  textOf,
} from '@toolenv/envs-qa';
import { buildPassageIndex, openPassageIndex, type SearchMode } from '@toolenv/tools-search';
import { serveEmbeddings } from './embeddings-server.ts';
import { embed } from './word-vectors.ts';

const families = { bridge: bridgeQuestions, comparison: comparisonQuestions, compose: composeQuestions };
const modes: readonly SearchMode[] = ['bm25', 'vector', 'hybrid'];
const questions = 256;

/** By family of questions, and by mode. */
type Recalls = Record<string, Partial<Record<SearchMode, number>>>;

/** @param seeds Of the worlds. @param limit Documents that a search returns. */
export async function measureWorlds(
  seeds: readonly number[],
  limit: number,
): Promise<{ seeds: readonly number[]; questions: number; limit: number; worlds: Recalls[] }> {
  const worlds: Recalls[] = [];
  for (const seed of seeds) worlds.push(await recallsIn(seed, limit));
  return { seeds, questions, limit, worlds };
}

async function recallsIn(seed: number, limit: number): Promise<Recalls> {
  const world = createWorld(seed);
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-bench-worlds-'));
  const passages = world.documents.map((document) => ({
    id: document.title,
    title: document.title,
    text: textOf(document),
  }));
  const weightOf = inverseFrequency(passages.map(({ title, text }) => `${title}\n${text}`));
  const server = await serveEmbeddings((text) => embed(text, weightOf));
  try {
    const file = join(folder, 'passages.jsonl');
    await writeFile(file, passages.map((passage) => `${JSON.stringify(passage)}\n`).join(''));
    const index = join(folder, 'index');
    await buildPassageIndex({
      passages: file,
      folder: index,
      embeddings: server.url,
      embeddingModel: 'words',
    });
    const recalls: Recalls = {};
    for (const mode of modes) {
      const opened = await openPassageIndex(index, { mode });
      for (const [name, family] of Object.entries(families)) {
        const records = createQuestions(family, world, 'test', questions);
        const hits = await opened.search(
          records.map(({ question }) => question),
          { limit },
        );
        const shares = records.map((record, number) => {
          const titles = hits[number]!.map(({ title }) => title);
          const gold = goldTitles(record);
          return gold.filter((title) => titles.includes(title)).length / gold.length;
        });
        recalls[name] ??= {};
        recalls[name][mode] = shares.reduce((sum, share) => sum + share, 0) / shares.length;
      }
      await opened.close();
    }
    return recalls;
  } finally {
    await server.close();
    await rm(folder, { recursive: true });
  }
}

/** The logarithm of the number of texts for each text with the word. A word of no text has the greatest weight. */
function inverseFrequency(texts: readonly string[]): (word: string) => number {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const word of new Set(text.toLowerCase().match(/[0-9a-z]+/g)))
      counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return (word) => Math.log(texts.length / (counts.get(word) ?? 1));
}
