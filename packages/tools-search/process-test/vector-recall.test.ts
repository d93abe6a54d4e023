/** How many of the nearest vectors a search finds in an index of LanceDB, which quantises vectors and sorts them into partitions. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { buildPassageIndex, openPassageIndex } from '../src/index.ts';
import { startEmbeddings } from '../test/embeddings-server.ts';

const count = 20_000;
const limit = 5;

/** The server and the comparison need each vector. */
const vectors = new Map<string, number[]>();

/** A random direction of each text, of length 1. */
function vectorOf(text: string): number[] {
  const known = vectors.get(text) ?? randomVector(text);
  vectors.set(text, known);
  return known;
}

function randomVector(text: string): number[] {
  const rng = createRng(1, text);
  const vector = Array.from({ length: 64 }, () => rng.float() - 0.5);
  const length = Math.sqrt(product(vector, vector));
  return vector.map((value) => value / length);
}

function product(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

test('a search finds nearly all of the nearest vectors, and fewer with one probe', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-probes-'));
  const server = await startEmbeddings(vectorOf);
  try {
    const passages = join(folder, 'passages.jsonl');
    const texts = Array.from({ length: count }, (_, id) => `text ${id}`);
    const lines = texts.map((text, id) => `${JSON.stringify({ id: `${id}`, title: `T${id}`, text })}\n`);
    await writeFile(passages, lines.join(''));
    const index = join(folder, 'index');
    await buildPassageIndex({ passages, folder: index, embeddings: server.url, embeddingModel: 'random' });
    const queries = Array.from({ length: 50 }, (_, number) => `query ${number}`);
    const passageVectors = texts.map((text, id) => vectorOf(`T${id}\n${text}`));
    const nearest = queries.map((query) => {
      const wanted = vectorOf(query);
      const scores = passageVectors.map((vector, id) => ({ id: `${id}`, score: product(wanted, vector) }));
      return scores.sort((a, b) => b.score - a.score).slice(0, limit);
    });
    const recallWith = async (probes: number) => {
      const opened = await openPassageIndex(index, { mode: 'vector', probes });
      const found = await opened.search(queries, { limit });
      await opened.close();
      const hits = nearest.map(
        (wanted, number) => wanted.filter(({ id }) => found[number]!.some((hit) => hit.id === id)).length,
      );
      return hits.reduce((sum, each) => sum + each, 0) / (limit * queries.length);
    };
    const [few, usual] = [await recallWith(1), await recallWith(20)];
    console.log(`recall with 1 and 20 probes: ${few}, ${usual}`);
    expect(few).toBeLessThan(usual);
    expect(usual).toBeGreaterThan(0.9);
  } finally {
    await server.close();
    await rm(folder, { recursive: true });
  }
}, 300_000);
