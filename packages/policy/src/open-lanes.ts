/** In how many lanes a model is sampled, and where. */
import { type Lane, LocalLane } from './lane.ts';
import type { Model } from './model.ts';
import type { Runtime } from './runtime.ts';
import { WorkerLane } from './worker-lane.ts';
import { isSmall, worthwhileThreads } from './worker-thread.ts';

/** A lane in this thread, or, where several threads compute a small model, one in a thread of its own for each. */
export function openLanes(runtime: Runtime, model: Model): Lane[] {
  const threads = worthwhileThreads(runtime, model.weights);
  if (threads > 1) return Array.from({ length: threads }, () => new WorkerLane(model));
  return [new LocalLane(runtime, model, { buildsIn: runtime.threads === 1 && isSmall(model.weights) })];
}
