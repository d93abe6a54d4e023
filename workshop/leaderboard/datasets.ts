/** The three families of questions: two to train on, one that training never sees. */
import { type EnvHandle, openEnv, type Policy } from '@toolenv/core';
import { mixEnvs } from '@toolenv/core/wrappers';
import { type Evaluation, evaluate } from '@toolenv/training';

export const datasets = ['bridge', 'comparison', 'compose'] as const;
export type Dataset = (typeof datasets)[number];
export type Datasets = Readonly<Record<Dataset, EnvHandle<unknown>>>;

/** As the tiny policy was made: two documents a search. */
const options = { topK: 2 };

/** @param seed Of the world: all three ask about the same one. */
export async function openDatasets(seed: number): Promise<Datasets> {
  const open = (name: Dataset) => openEnv(`@toolenv/envs-qa/${name}-v1`, { seed, options });
  return {
    bridge: await open('bridge'),
    comparison: await open('comparison'),
    compose: await open('compose'),
  };
}

/** What agents train on. */
export function trainingEnv({ bridge, comparison }: Datasets): EnvHandle<unknown> {
  return mixEnvs({ bridge, comparison });
}

export async function closeDatasets(open: Datasets): Promise<void> {
  for (const env of Object.values(open)) await env.close();
}

/** Exact match and F1, means over the questions. */
export interface Score {
  em: number;
  f1: number;
}

/** Greedy answers to the first `count` questions of a split. */
export async function score(
  env: EnvHandle<unknown>,
  policy: Policy,
  run: { split: 'validation' | 'test'; count: number; seed: number; signal: AbortSignal },
): Promise<Score> {
  const sampling = { maxTokens: 64, temperature: 0 };
  const { means }: Evaluation = await evaluate({ ...run, env, policy, concurrency: 128, sampling });
  return { em: means.em ?? 0, f1: means.f1 ?? 0 };
}
