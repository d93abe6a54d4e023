/** What an environment shows once it is open: its tasks, and what the model reads first. */
import type { Observation, Split } from '@toolenv/core';
import { type EnvFlags, openRunEnv } from './open-run.ts';

export interface OpenedDetails {
  /** Tasks of each split. */
  tasks: Record<Split, number>;
  /** Of the first task of `split`; absent if the environment has no tasks. */
  observation?: Observation;
  split?: Split;
  /** Tool → milliseconds that a call may take, for tools with a limit of their own. */
  toolTimeouts?: Record<string, number>;
}

/** @throws What opening the environment throws. */
export async function openedDetails(
  chosen: Parameters<typeof openRunEnv>[0],
  { tool, seed, from, signal }: EnvFlags & { seed: number; from: string; signal: AbortSignal },
): Promise<OpenedDetails> {
  const open = await openRunEnv(chosen, { tool, seed, from });
  try {
    const { train, validation, test } = open.tasks;
    const tasks = {
      train: await train.length,
      validation: await validation.length,
      test: await test.length,
    };
    const split = (['train', 'validation', 'test'] as const).find((each) => tasks[each] > 0);
    if (split === undefined) return { tasks };
    const episode = open.episode();
    try {
      const observation = await episode.reset({ task: await open.tasks[split].get(0), seed, signal });
      const limited = (episode.tools?.() ?? []).flatMap(({ name, timeout }) =>
        timeout ? [[name, timeout]] : [],
      );
      return { tasks, split, observation, toolTimeouts: Object.fromEntries(limited) };
    } finally {
      await episode.close();
    }
  } finally {
    await open.close();
  }
}
