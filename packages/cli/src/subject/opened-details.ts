/** What an environment shows once it is open: its tasks, and what the model reads first. */
import { type EnvDefinition, type Observation, openEnv, type Split } from '@toolenv/core';
import { propertiesOf } from '../flags/schema-flags.ts';

export interface OpenedDetails {
  /** Tasks of each split. */
  tasks: Record<Split, number>;
  /** Of the first task of `split`; absent if the environment has no tasks. */
  observation?: Observation;
  split?: Split;
}

export interface OpeningOptions {
  options: Record<string, unknown>;
  tools: Record<string, string>;
  seed: number;
  /** Folder that plugins are looked for from. */
  from: string;
  signal: AbortSignal;
}

/** The options that opening needs and that have no default, without those that are given. */
export function missingOptions({ options }: EnvDefinition, given: Record<string, unknown>): string[] {
  const properties = propertiesOf(options);
  const required = (options.required ?? []) as string[];
  return required.filter((name) => !Object.hasOwn(given, name) && properties[name]?.default === undefined);
}

/** @throws What opening the environment throws. */
export async function openedDetails(
  env: string | EnvDefinition,
  { options, tools, seed, from, signal }: OpeningOptions,
): Promise<OpenedDetails> {
  const settings = { seed, tools, from };
  const open = await (typeof env === 'string'
    ? openEnv(env, options, settings)
    : openEnv(env, options, settings));
  try {
    const tasks = {
      train: open.tasks.train.length,
      validation: open.tasks.validation.length,
      test: open.tasks.test.length,
    };
    const split = (['train', 'validation', 'test'] as const).find((each) => tasks[each] > 0);
    if (split === undefined) return { tasks };
    const episode = open.episode();
    try {
      const observation = await episode.reset({ task: open.tasks[split].get(0), seed, signal });
      return { tasks, split, observation };
    } finally {
      await episode.close();
    }
  } finally {
    await open.close();
  }
}
