/** someTasks: tasks of all splits, spread evenly, for checks that cannot play every task. */
import type { EnvHandle, Split } from '@toolenv/core';

export const splits: readonly Split[] = ['train', 'validation', 'test'];

/** Tasks of all splits that have any, about `count` in all. */
export async function someTasks({ tasks }: EnvHandle<unknown>, count: number): Promise<unknown[]> {
  const sets = await Promise.all(
    splits.map(async (split) => ({ set: tasks[split], length: await tasks[split].length })),
  );
  const filled = sets.filter(({ length }) => length > 0);
  const share = Math.ceil(count / Math.max(1, filled.length));
  const some = filled.flatMap(({ set, length }) => spread(length, share).map((index) => set.get(index)));
  return await Promise.all(some);
}

/** Indices of at most `count` tasks, spread evenly. */
export function spread(length: number, count: number): number[] {
  const size = Math.min(length, count);
  return Array.from({ length: size }, (_, i) => Math.floor((i * length) / size));
}
