/** How conversations are divided between the splits. */
import { createHash } from 'node:crypto';
import type { SeenConversation } from './task-table.ts';

/** Shares of all, from 0 to below 1. */
export interface SplitShares {
  validation: number;
  test: number;
}

/** The split of a task or user, by a hash of its name: it stays when other conversations are added. */
export function splitOfName(name: string, { validation, test }: SplitShares): number {
  const place = createHash('sha256').update(name).digest().readUIntBE(0, 6) / 2 ** 48;
  return place < test ? 2 : place < test + validation ? 1 : 0;
}

/**
 * Divides conversations by their times: those of a split are earlier than all of the next. Conversations of one time stay together, in the later split.
 */
export function splitByTime(
  conversations: readonly SeenConversation[],
  { validation, test }: SplitShares,
): void {
  const times = Float64Array.from(conversations, ({ time }) => time).sort();
  const cut = (share: number) =>
    times[Math.ceil(times.length * (1 - share) - 1e-9)] ?? Number.POSITIVE_INFINITY;
  const [first, second] = [cut(validation + test), cut(test)];
  for (const seen of conversations) seen.split = seen.time >= second ? 2 : seen.time >= first ? 1 : 0;
}
