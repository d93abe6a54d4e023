/** The families of questions. */
import { type EnvHandle, openEnv, type Policy } from '@toolenv/core';
import { mixEnvs } from '@toolenv/core/wrappers';
import { evaluate } from '@toolenv/training';
import { envOptions } from '../demo/setting.ts';

export const datasets = ['bridge', 'comparison', 'compose'] as const;
export type Dataset = (typeof datasets)[number];
export type Datasets = Readonly<Record<Dataset, EnvHandle<unknown>>>;

/** @param seed Seeds the world, which all families share. */
export async function openDatasets(seed: number): Promise<Datasets> {
  const open = (name: Dataset) => openEnv(`@toolenv/envs-qa/${name}-v1`, envOptions, { seed });
  return {
    bridge: await open('bridge'),
    comparison: await open('comparison'),
    compose: await open('compose'),
  };
}

/** The environment that agents train in. */
export function trainingEnv(open: Datasets, names: readonly Dataset[]): EnvHandle<unknown> {
  return mixEnvs(Object.fromEntries(names.map((name) => [name, open[name]])));
}

export async function closeDatasets(open: Datasets): Promise<void> {
  for (const env of Object.values(open)) await env.close();
}

/** Mean exact match and F1 over the questions. */
export interface Score {
  em: number;
  f1: number;
}

export interface Examination {
  count: number;
  seed: number;
  signal: AbortSignal;
}

/** Scores greedy answers to the first `count` questions of a split. */
export async function score(
  env: EnvHandle<unknown>,
  policy: Policy,
  run: Examination & { split: 'validation' | 'test' },
): Promise<Score> {
  const { means } = await evaluate({ ...run, env, policy, maxTokens: 64 });
  return { em: means.em ?? 0, f1: means.f1 ?? 0 };
}

/** Scores answers to the test questions of several datasets. */
export async function scoreAll(
  open: Datasets,
  names: readonly Dataset[],
  policy: Policy,
  run: Examination,
): Promise<Record<string, Score>> {
  const scores: Record<string, Score> = {};
  for (const name of names) scores[name] = await score(open[name], policy, { ...run, split: 'test' });
  return scores;
}
