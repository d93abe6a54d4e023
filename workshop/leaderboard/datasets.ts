/** The three families of questions: two for training, and one that training never sees. */
import { type EnvHandle, openEnv, type Policy } from '@toolenv/core';
import { mixEnvs } from '@toolenv/core/wrappers';
import { evaluate } from '@toolenv/training';
import { envOptions } from '../demo/setting.ts';

export const datasets = ['bridge', 'comparison', 'compose'] as const;
export type Dataset = (typeof datasets)[number];
export type Datasets = Readonly<Record<Dataset, EnvHandle<unknown>>>;

/** @param seed Seeds the world, which all three families share. */
export async function openDatasets(seed: number): Promise<Datasets> {
  const open = (name: Dataset) => openEnv(`@toolenv/envs-qa/${name}-v1`, envOptions, { seed });
  return {
    bridge: await open('bridge'),
    comparison: await open('comparison'),
    compose: await open('compose'),
  };
}

/** The environment that agents train in. */
export function trainingEnv({ bridge, comparison }: Datasets): EnvHandle<unknown> {
  return mixEnvs({ bridge, comparison });
}

export async function closeDatasets(open: Datasets): Promise<void> {
  for (const env of Object.values(open)) await env.close();
}

/** Mean exact match and F1 over the questions. */
export interface Score {
  em: number;
  f1: number;
}

/** Scores greedy answers to the first `count` questions of a split. */
export async function score(
  env: EnvHandle<unknown>,
  policy: Policy,
  run: { split: 'validation' | 'test'; count: number; seed: number; signal: AbortSignal },
): Promise<Score> {
  const { means } = await evaluate({ ...run, env, policy, maxTokens: 64 });
  return { em: means.em ?? 0, f1: means.f1 ?? 0 };
}
