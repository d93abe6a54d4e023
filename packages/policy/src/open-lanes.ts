/** In how many lanes a model is sampled, and where. */
import { type Lane, LocalLane } from './lane.ts';
import type { Model } from './model.ts';
import type { Runtime } from './runtime.ts';
import { WorkerLane } from './worker-lane.ts';

/** Worker threads beyond this many are too small a share of the work each. */
const mostLanes = 8;
/** A lane of a small model has weights of its own, and some twice: as they are and as products read them. */
const mostBytes = 128 * 2 ** 20;

/**
 * A lane in this thread, or, where several threads compute a small model, one in a thread of its own for each: small operations
 * gain little from threads that they share.
 */
export function openLanes(runtime: Runtime, model: Model): Lane[] {
  const bytes = Object.values(model.weights).reduce((sum, { data }) => sum + data.byteLength, 0);
  if (runtime.threads === undefined || bytes > mostBytes) return [new LocalLane(runtime, model)];
  if (runtime.threads === 1) return [new LocalLane(runtime, model, { buildsIn: true })];
  return Array.from({ length: Math.min(runtime.threads, mostLanes) }, () => new WorkerLane(model));
}
