/** Bounds what a check waits for, so that something that hangs is a finding and no hang. */
import { Deadline } from '../deadline.ts';
import type { Violation } from './violation.ts';

/** The result of `work`, or a rejection with `late()` after `patience` milliseconds. */
export async function inTime<T>(work: () => Promise<T>, patience: number, late: () => Violation): Promise<T> {
  const deadline = new Deadline({ after: patience, reason: late });
  try {
    return await deadline.race(work);
  } finally {
    deadline.clear();
  }
}
