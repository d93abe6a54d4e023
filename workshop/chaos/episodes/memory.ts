/** Whether memory stays flat over waves of episodes. */
import { median } from '../../bench/median.ts';

/** Largest growth of the heap in megabytes, from the median of the first half of the waves to that of the second. */
export const flat = 2;

/** Megabytes of heap in use, after a full collection. */
export function heapInUse(): number {
  const { gc } = globalThis;
  if (!gc) throw new Error('Run it with node --expose-gc.');
  gc();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** Growth in megabytes, from the median of the first half to the median of the second. */
export function growthOf(heap: readonly number[]): number {
  const half = heap.length >> 1;
  return median(heap.slice(-half)) - median(heap.slice(0, half));
}
