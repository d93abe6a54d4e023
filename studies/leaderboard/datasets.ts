/** The questions of a study, and what answers to them are worth. */
import { setTimeout as delay } from 'node:timers/promises';
import { createRng, type EnvHandle, type Policy, type Trajectory } from '@toolenv/core';
import { mixEnvs, transformObservation, transformReward } from '@toolenv/core/wrappers';
import { evaluate } from '@toolenv/training';
import { Progress, RunningScores } from 'toolenv';
import { type Family, type FamilyOptions, openFamily } from '../../workshop/tiny-policy/families.ts';
import { addRecovery, type Recovery } from './recovery.ts';
import { SortScores, type Sorts } from './sort-scores.ts';

export type Datasets = Readonly<Partial<Record<Family, EnvHandle<unknown>>>>;

/** @param seed Seeds the world, which all families share. */
export async function openDatasets(
  names: readonly Family[],
  seed: number,
  options?: FamilyOptions,
): Promise<Datasets> {
  const open: Partial<Record<Family, EnvHandle<unknown>>> = {};
  for (const name of names) open[name] = await openFamily(name, seed, options);
  return open;
}

export interface TrainingConditions {
  /** What a search costs: the reward is then the exact match minus the price of the searches. Default: the environment's rewards. */
  price?: number | undefined;
  /** Least and most seconds that a search takes. */
  searchSeconds?: readonly [number, number] | undefined;
  /** Seeds these seconds. */
  seed: number;
}

/** The environment that agents train in. */
export function trainingEnv(
  open: Datasets,
  names: readonly Family[],
  { price, searchSeconds, seed }: TrainingConditions,
): EnvHandle<unknown> {
  const changed = (env: EnvHandle<unknown>) => {
    const priced = price === undefined ? env : withPrice(env, price);
    return searchSeconds ? withLatency(priced, searchSeconds, seed) : priced;
  };
  return mixEnvs(Object.fromEntries(names.map((name) => [name, changed(open[name]!)])));
}

/** Searches that take time, drawn uniformly. */
function withLatency(
  env: EnvHandle<unknown>,
  [least, most]: readonly [number, number],
  seed: number,
): EnvHandle<unknown> {
  const rng = createRng(seed, 'latency');
  return transformObservation(env, async (observation, { signal }) => {
    const found = observation.messages.at(-1)?.role === 'tool';
    if (found) await delay(1000 * (least + (most - least) * rng.float()), undefined, { signal });
    return observation;
  });
}

function withPrice(env: EnvHandle<unknown>, price: number): EnvHandle<unknown> {
  const { rewards } = env.episode().spec;
  const { retrieved, searches } = rewards;
  return transformReward(env, {
    rewards: {
      ...rewards,
      retrieved: { ...retrieved!, weight: 0 },
      searches: { ...searches!, weight: -price },
    },
    transform: (given) => given,
  });
}

export async function closeDatasets(open: Datasets): Promise<void> {
  for (const env of Object.values(open)) await env.close();
}

/** Means over the questions. */
export interface Score {
  /** Exact match. */
  em: number;
  f1: number;
  searches?: number;
  /** Exact match of each sort of question, if there are several. */
  sorts?: Sorts;
  /** Where searches failed. */
  recovery?: Recovery;
}

export interface Examination {
  count: number;
  seed: number;
  signal: AbortSignal;
}

/** Scores answers to the first `count` questions of a split. */
export async function score(
  env: EnvHandle<unknown>,
  policy: Policy,
  run: Examination & { split: 'validation' | 'test'; temperature?: number },
): Promise<Score> {
  const bar = new Progress('test questions', Math.min(run.count, await env.tasks[run.split].length));
  const scores = new RunningScores();
  const sorts = new SortScores();
  let recovery: Recovery = { episodes: 0, right: 0, failed: 0, repeated: 0 };
  const onTrajectory = (trajectory: Trajectory) => {
    scores.add(trajectory);
    sorts.add(trajectory);
    recovery = addRecovery(recovery, trajectory);
    bar.update(scores.episodes, scores.status);
  };
  try {
    const { means } = await evaluate({ ...run, env, policy, maxTokens: 64, onTrajectory });
    const { em, f1, searches } = means;
    const { means: bySort } = sorts;
    const extras = { ...(bySort && { sorts: bySort }), ...(recovery.failed > 0 && { recovery }) };
    return { em: em ?? 0, f1: f1 ?? 0, searches: searches ?? 0, ...extras };
  } finally {
    bar.stop();
  }
}

/** Scores answers to the test questions of several datasets. Default temperature: 0. */
export async function scoreAll(
  open: Datasets,
  names: readonly Family[],
  policy: Policy,
  run: Examination & { temperature?: number },
): Promise<Record<string, Score>> {
  const scores: Record<string, Score> = {};
  for (const name of names) scores[name] = await score(open[name]!, policy, { ...run, split: 'test' });
  return scores;
}
