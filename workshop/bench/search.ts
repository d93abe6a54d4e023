/** `npm run bench -- search`: an index of passages beside bm25s in Python and an exact scan of all vectors, at several sizes. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchMode } from '@toolenv/tools-search';
import { serveEmbeddings } from './embeddings-server.ts';
import { busyShare, warnIfBusy } from './machine.ts';
import { findPython, pythonCommand } from './python.ts';
import { questionsOf, scan, vectorOf, writeCorpus } from './search-corpus.ts';
import type { AskJob, AskResult, BuildJob, BuildResult } from './search-side.ts';
import { measureWorlds } from './search-worlds.ts';

const callers = 64;
const limit = 5;
const queries = 2_000;
/** Queries that the exact scan answers. */
const scanned = 200;
/** Partitions that a search for vectors compares, beside the default of 20. */
const manyProbes = 200;
/** Seeds of the synthetic worlds. */
const worldSeeds = [1, 2, 3, 4, 5];

interface PeerResult {
  seconds: number;
  queriesPerSecond: number;
  peakMemory: number;
  hits: number[][];
  version: string;
}

/** @param sizes Numbers of passages. @param vectors Whether to add and search vectors, which takes longer. */
export async function measureSearch(
  sizes: readonly number[],
  vectors: boolean,
): Promise<Record<string, unknown>> {
  const otherWork = Number((await busyShare()).toFixed(2));
  warnIfBusy(otherWork);
  const results: Record<string, unknown>[] = [];
  for (const size of sizes) results.push(await measureSize(size, vectors));
  const worlds = vectors ? await measureWorlds(worldSeeds, limit) : undefined;
  return { name: 'search', shape: { callers, limit, queries, scanned }, otherWork, results, worlds };
}

async function measureSize(size: number, vectors: boolean): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(process.env.TOOLENV_BENCH_FOLDER ?? tmpdir(), 'toolenv-bench-search-'));
  const server = vectors ? await serveEmbeddings(vectorOf) : undefined;
  try {
    const passages = join(folder, 'passages.jsonl');
    await writeCorpus(passages, size);
    const questions = questionsOf(size, queries);
    const words = await measureIndex({ passages, folder: join(folder, 'words') }, ['bm25'], size);
    const peer = await bm25s(
      passages,
      questions.map(({ query }) => query),
    );
    const both =
      server &&
      (await measureIndex(
        { passages, folder: join(folder, 'both'), embeddings: server.url },
        ['vector', 'hybrid'],
        size,
      ));
    const many =
      both && (await ask({ folder: join(folder, 'both'), mode: 'vector', probes: manyProbes, size }));
    const nearest =
      server &&
      scan(
        size,
        questions.slice(0, scanned).map(({ query }) => query),
        limit,
      );
    const gold = questions.map(({ passage }) => [passage]);
    const { hits: found, ...bm25 } = words.modes.bm25!;
    return {
      size,
      build: words.build,
      bm25: { ...bm25, recall: recall(found, gold) },
      bm25s: peer && {
        ...peer,
        hits: undefined,
        recall: recall(peer.hits, gold),
        agreement: recall(found, peer.hits),
      },
      ...(both && {
        buildWithVectors: both.build,
        vector: withRecall(both.modes.vector!, gold),
        hybrid: withRecall(both.modes.hybrid!, gold),
        vectorWithManyProbes: { probes: manyProbes, ...withRecall(many!, gold) },
        scan: {
          recall: recall(nearest!, gold.slice(0, scanned)),
          agreement: recall(both.modes.vector!.hits.slice(0, scanned), nearest!),
          agreementWithManyProbes: recall(many!.hits.slice(0, scanned), nearest!),
        },
      }),
    };
  } finally {
    await server?.close();
    await rm(folder, { recursive: true });
  }
}

function withRecall({ hits, ...measured }: AskResult, gold: readonly number[][]): object {
  return { ...measured, recall: recall(hits, gold) };
}

async function measureIndex(
  index: Omit<BuildJob, 'job'>,
  modes: readonly SearchMode[],
  size: number,
): Promise<{ build: BuildResult; modes: Partial<Record<SearchMode, AskResult>> }> {
  const build = await side<BuildResult>({ job: 'build', ...index });
  const asked: Partial<Record<SearchMode, AskResult>> = {};
  for (const mode of modes) asked[mode] = await ask({ folder: index.folder, mode, size });
  return { build, modes: asked };
}

function ask(search: Pick<AskJob, 'folder' | 'mode' | 'probes' | 'size'>): Promise<AskResult> {
  return side<AskResult>({ job: 'ask', ...search, queries, callers, limit });
}

/** The share of the wanted passages that were found, averaged over the queries. */
function recall(found: readonly number[][], wanted: readonly number[][]): number {
  const shares = wanted.map(
    (all, index) => all.filter((each) => found[index]!.includes(each)).length / all.length,
  );
  return Number((shares.reduce((sum, share) => sum + share, 0) / shares.length).toFixed(3));
}

async function side<Result>(job: BuildJob | AskJob): Promise<Result> {
  return JSON.parse(
    await output(process.execPath, [join(import.meta.dirname, 'search-side.js'), JSON.stringify(job)]),
  );
}

async function bm25s(passages: string, asked: readonly string[]): Promise<PeerResult | null> {
  const python = findPython(['bm25s']);
  if (!python) {
    console.error(`${pythonCommand()} has no bm25s: it is not measured.`);
    return null;
  }
  const request = JSON.stringify({ passages, queries: asked, limit });
  // This file runs from workshop/bench/dist.
  return JSON.parse(await output(python, [join(import.meta.dirname, '..', 'search_bm25s.py')], request));
}

/** What a program prints on stdout. @param input What it reads from stdin. */
function output(command: string, args: string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { maxBuffer: 2 ** 30 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
    child.stderr!.pipe(process.stderr);
    child.stdin!.end(`${input}\n`);
  });
}
