/** examine: plays the test tasks of an environment, and tells tasks of left-out goals from others. */
import { collect, type EnvHandle, type Policy, rollout } from '@toolenv/core';
import { isLeftOut } from '../../workshop/tiny-policy/library/goals.ts';
import type { LibraryEnvironment } from '../../workshop/tiny-policy/library/player.ts';
import { mean } from '../shared/intervals.ts';

/** Shares of the episodes that succeed. */
export interface Success {
  all: number;
  /** Of tasks whose goals no demonstration shows; `null` if there are none. */
  leftOut: number | null;
  /** Number of tasks of such goals. */
  leftOutTasks: number;
}

export interface Examination {
  /** Test tasks, the first of them. */
  count: number;
  temperature: number;
  seed: number;
  signal?: AbortSignal;
}

/** An episode that was aborted counts as a failure. */
export async function examine(
  { goal, maxTokens, success }: LibraryEnvironment<unknown>,
  env: EnvHandle<unknown>,
  policy: Policy,
  { count, temperature, seed, signal }: Examination,
): Promise<Success> {
  const { test } = env.tasks;
  const available = Math.min(count, await test.length);
  const tasks = await Promise.all(Array.from({ length: available }, (_, index) => test.get(index)));
  const played = await collect(
    rollout({
      env,
      policy,
      episodes: tasks.map((task, group) => ({ task, group, sample: 0 })),
      concurrency: 64,
      sampling: { maxTokens, temperature },
      seed,
      signal,
    }),
  );
  const results = played.map(({ task, rewards }) => ({
    succeeded: rewards[success] ?? 0,
    isLeftOut: isLeftOut(goal(task)),
  }));
  const leftOut = results.filter((result) => result.isLeftOut);
  return {
    all: mean(results.map(({ succeeded }) => succeeded)),
    leftOut: leftOut.length === 0 ? null : mean(leftOut.map(({ succeeded }) => succeeded)),
    leftOutTasks: leftOut.length,
  };
}
