/** A process of `npm run bench -- search`: builds an index or asks it, so that its memory is its own. Prints one line of JSON. */
import { buildPassageIndex, openPassageIndex, type SearchMode } from '@toolenv/tools-search';
import { questionsOf } from './search-corpus.ts';

export interface BuildJob {
  job: 'build';
  passages: string;
  folder: string;
  embeddings?: string;
}

export interface AskJob {
  job: 'ask';
  folder: string;
  mode: SearchMode;
  probes?: number;
  size: number;
  queries: number;
  callers: number;
  limit: number;
}

export interface BuildResult {
  seconds: number;
  peakMemory: number;
}

export interface AskResult {
  queriesPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  peakMemory: number;
  /** Seconds of processor time per second. */
  cores: number;
  /** Passages of each query. */
  hits: number[][];
}

const job = JSON.parse(process.argv[2]!) as BuildJob | AskJob;
const result = job.job === 'build' ? await build(job) : await ask(job);
process.stdout.write(`${JSON.stringify(result)}\n`);

async function build({ passages, folder, embeddings }: BuildJob): Promise<BuildResult> {
  const start = performance.now();
  // The words of the corpus have no stems, and none is a stop word.
  const words = { stem: false, stopWords: true };
  await buildPassageIndex({
    passages,
    folder,
    ...words,
    ...(embeddings && { embeddings, embeddingModel: 'words' }),
  });
  return { seconds: (performance.now() - start) / 1000, peakMemory: peakMemory() };
}

async function ask({ folder, mode, probes, size, queries, callers, limit }: AskJob): Promise<AskResult> {
  const index = await openPassageIndex(folder, { mode, probes });
  const warmUp = questionsOf(size, queries + 100).slice(queries);
  await Promise.all(warmUp.map(({ query }) => index.search([query], { limit })));
  const asked = questionsOf(size, queries);
  const hits: number[][] = [];
  const times: number[] = [];
  let next = 0;
  const caller = async () => {
    while (next < asked.length) {
      const number = next++;
      const start = performance.now();
      const [found] = await index.search([asked[number]!.query], { limit });
      times.push(performance.now() - start);
      hits[number] = found!.map(({ id }) => Number(id));
    }
  };
  const processor = process.cpuUsage();
  const start = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(processor);
  await index.close();
  times.sort((a, b) => a - b);
  const quantile = (share: number) => Number(times[Math.floor(share * (times.length - 1))]!.toFixed(1));
  return {
    queriesPerSecond: Math.round(asked.length / seconds),
    p50: quantile(0.5),
    p99: quantile(0.99),
    peakMemory: peakMemory(),
    cores: Number(((user + system) / 1e6 / seconds).toFixed(2)),
    hits,
  };
}

/** Bytes. */
function peakMemory(): number {
  return process.resourceUsage().maxRSS * 1024;
}
