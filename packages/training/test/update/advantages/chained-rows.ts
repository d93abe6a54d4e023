/** Episodes without branches: each row goes on from the end of its episode's row before. */
import type { RowParent } from '../../../src/rows/training-row.ts';

/** [B] the parents of rows. `episodes` [B] names the episode of each. */
export function chained(
  rows: readonly { length: number }[],
  episodes: readonly unknown[],
): (RowParent | undefined)[] {
  const last = new Map<unknown, number>();
  return episodes.map((episode, b) => {
    const before = last.get(episode);
    if (rows[b]!.length > 0) last.set(episode, b);
    return before === undefined ? undefined : { row: before, token: rows[before]!.length - 1 };
  });
}
