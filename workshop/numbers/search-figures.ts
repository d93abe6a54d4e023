/** searchFigures: the figures of `npm run bench -- search`. */
import { differenceText, type Estimate, estimate, estimateText } from '../leaderboard/intervals.ts';
import { markdownTable } from '../leaderboard/markdown-table.ts';

/** Answers to the queries. Times in milliseconds, memory in bytes. */
interface Asked {
  queriesPerSecond: number;
  p50: number;
  p99: number;
  peakMemory: number;
  recall: number;
}

interface Built {
  seconds: number;
  peakMemory: number;
}

interface SizeResult {
  size: number;
  build: Built;
  bm25: Asked;
  bm25s: Built & { queriesPerSecond: number; recall: number; version: string };
  buildWithVectors: Built;
  vector: Asked;
  vectorWithManyProbes: Asked & { probes: number };
  hybrid: Asked;
  scan: { recall: number; agreement: number; agreementWithManyProbes: number };
}

const modes = ['bm25', 'vector', 'hybrid'] as const;
type Mode = (typeof modes)[number];

/** The line of bench.jsonl about search. */
export interface SearchRun {
  name: 'search';
  otherWork: number;
  results: SizeResult[];
  worlds: {
    seeds: number[];
    questions: number;
    limit: number;
    worlds: Record<string, Record<Mode, number>>[];
  };
}

export function searchFigures({ otherWork, results, worlds }: SearchRun): [name: string, figure: string][] {
  const largest = results.at(-1)!;
  return [
    ['search.words.table', `\n\n${wordTable(results)}\n\n`],
    ['search.vectors.table', `\n\n${vectorTable(results)}\n\n`],
    ['search.worlds.table', `\n\n${worldTable(worlds)}\n\n`],
    ['search.rate', String(largest.bm25.queriesPerSecond)],
    ['search.peer.ratio', (largest.bm25.queriesPerSecond / largest.bm25s.queriesPerSecond).toFixed(1)],
    ['search.peer.version', largest.bm25s.version],
    ['search.probes', String(largest.vectorWithManyProbes.probes)],
    ['search.other-work', `${Math.round(100 * otherWork)} %`],
  ];
}

const count = (value: number) => value.toLocaleString('en');
const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;
const seconds = (value: number) => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} s`;

function wordTable(results: readonly SizeResult[]): string {
  const header = [
    'passages',
    'build',
    'memory',
    'queries/s',
    'p50',
    'p99',
    'recall@5',
    'memory of searching',
  ];
  const lines = results.flatMap(({ size, build, bm25, bm25s }) => [
    [
      count(size),
      seconds(build.seconds),
      gigabytes(build.peakMemory),
      count(bm25.queriesPerSecond),
      `${bm25.p50} ms`,
      `${bm25.p99} ms`,
      bm25.recall.toFixed(3),
      gigabytes(bm25.peakMemory),
    ],
    [
      'bm25s',
      seconds(bm25s.seconds),
      gigabytes(bm25s.peakMemory),
      count(bm25s.queriesPerSecond),
      '',
      '',
      bm25s.recall.toFixed(3),
      '',
    ],
  ]);
  return markdownTable(header, lines);
}

function vectorTable(results: readonly SizeResult[]): string {
  const header = ['passages', 'search', 'queries/s', 'p50', 'p99', 'recall@5', 'of the nearest five'];
  const lines = results.flatMap(({ size, vector, vectorWithManyProbes, hybrid, scan }) => {
    const row = (search: string, asked: Asked, nearest?: number) => [
      count(size),
      search,
      count(asked.queriesPerSecond),
      `${asked.p50} ms`,
      `${asked.p99} ms`,
      asked.recall.toFixed(3),
      nearest?.toFixed(3) ?? '',
    ];
    return [
      row('vectors', vector, scan.agreement),
      row(
        `vectors, ${vectorWithManyProbes.probes} probes`,
        vectorWithManyProbes,
        scan.agreementWithManyProbes,
      ),
      row('words and vectors', hybrid),
      [count(size), 'exact scan', '', '', '', scan.recall.toFixed(3), '1'],
    ];
  });
  return markdownTable(header, lines);
}

/** Recalls with intervals over the worlds, and the paired difference of hybrid and BM25. */
function worldTable({ worlds }: SearchRun['worlds']): string {
  const header = ['questions', 'words (BM25)', 'vectors', 'words and vectors', 'both − words'];
  const lines = Object.keys(worlds[0]!).map((family) => {
    const over = (value: (recalls: Record<Mode, number>) => number): Estimate =>
      estimate(worlds.map((world) => value(world[family]!)));
    return [
      family,
      ...modes.map((mode) => estimateText(over((recalls) => recalls[mode]))),
      differenceText(over(({ hybrid, bm25 }) => hybrid - bm25)),
    ];
  });
  return markdownTable(header, lines);
}
