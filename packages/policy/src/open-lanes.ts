/** In how many lanes a model is sampled, and where. */
import { type Lane, LocalLane } from './lane.ts';
import type { Model } from './model.ts';
import type { Runtime } from './runtime.ts';
import { WorkerLane } from './worker-lane.ts';

/** Worker threads beyond this many are too small a share of the work each. */
const mostLanes = 8;
/** Each worker has weights of its own. */
const mostBytesInWorkers = 128 * 2 ** 20;

/**
 * A lane in this thread, or, where several threads compute a small model, one in a thread of its own for each: small operations
 * gain little from threads that they share.
 */
export function openLanes(runtime: Runtime, model: Model): Lane[] {
  const { threads = 1 } = runtime;
  const bytes = Object.values(model.weights).reduce((sum, { data }) => sum + data.byteLength, 0);
  if (threads === 1 || bytes > mostBytesInWorkers) return [new LocalLane(runtime, model)];
  return Array.from({ length: Math.min(threads, mostLanes) }, () => new WorkerLane(model));
}
