/** Gives LanceDB enough threads to build a full-text index on machines with few cores, and bounds its memory. */
import { availableParallelism } from 'node:os';

/** Workers that build a full-text index. Each holds up to 256 MiB of postings. */
const mostShards = 4;

/** Bytes that a scan reads ahead; 2 GB by default, which is the whole of many corpora. */
const readAhead = 64 * 2 ** 20;

/**
 * Call it before the first use of LanceDB in a process. A worker that writes its postings waits for another thread of the same
 * pool. On three cores or fewer the pool has one thread, and building an index of more than a few thousand documents never ends
 * (lancedb/lancedb#3568). The variables of the user win.
 */
export function giveLanceThreads(env: NodeJS.ProcessEnv = process.env): void {
  const shards = Number(env.LANCE_FTS_NUM_SHARDS) || Math.min(mostShards, availableParallelism());
  env.LANCE_FTS_NUM_SHARDS ??= String(shards);
  env.LANCE_DEFAULT_IO_BUFFER_SIZE ??= String(readAhead);
  env.LANCE_CPU_THREADS ??= String(Math.max(shards + 2, availableParallelism()));
}
