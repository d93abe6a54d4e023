/** Gives LanceDB enough threads to build a full-text index on machines with few cores, and bounds its memory. */
import { availableParallelism } from 'node:os';

/** Workers that build a full-text index. */
const maxShards = 4;

/**
 * MiB of postings that a worker holds before it writes them as a partition of the index. By default LanceDB's workers held all of two
 * million passages. Smaller partitions save memory and slow searches: those of 256 MiB took a fifth longer at a million passages.
 */
const partitionSize = 512;

/** Bytes that a scan reads ahead; 2 GB by default, which is the whole of many corpora. */
const readAhead = 64 * 2 ** 20;

/**
 * Call it before the first use of LanceDB in a process. A worker that writes its postings waits for another thread of the same
 * pool. On three cores or fewer the pool has one thread, and building an index of more than a few thousand documents never ends
 * (lancedb/lancedb#3568). The variables of the user win.
 */
export function setLanceThreads(env: NodeJS.ProcessEnv = process.env): void {
  const shards = Number(env.LANCE_FTS_NUM_SHARDS) || Math.min(maxShards, availableParallelism());
  env.LANCE_FTS_NUM_SHARDS ??= String(shards);
  env.LANCE_FTS_PARTITION_SIZE ??= String(partitionSize);
  env.LANCE_DEFAULT_IO_BUFFER_SIZE ??= String(readAhead);
  env.LANCE_CPU_THREADS ??= String(Math.max(shards + 2, availableParallelism()));
}
