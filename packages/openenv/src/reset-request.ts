/** Reads what a client asks of a reset. */
import { FrameError } from './frame.ts';

/** @throws FrameError for parameters that no environment here has, so that none is ignored. */
export function readReset(
  data: Record<string, unknown>,
  taskCount: number,
): { seed?: number; task?: number; episodeId?: string } {
  const {
    seed,
    task,
    episode_id: episodeId,
    ...others
  } = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const name = unknown.slice(0, 100);
    throw new FrameError('VALIDATION_ERROR', `reset takes seed, task and episode_id, not "${name}".`);
  }
  if (seed !== undefined && !isCount(seed)) {
    throw new FrameError('VALIDATION_ERROR', 'seed must be an integer of at least 0.');
  }
  if (task !== undefined && !(isCount(task) && task < taskCount)) {
    throw new FrameError('VALIDATION_ERROR', `task must be an integer from 0 to ${taskCount - 1}.`);
  }
  if (episodeId !== undefined && (typeof episodeId !== 'string' || episodeId.length > 256)) {
    throw new FrameError('VALIDATION_ERROR', 'episode_id must be a text of at most 256 characters.');
  }
  return { seed, task, episodeId };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
