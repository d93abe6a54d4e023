/** The questions of a study, and what answers to them are worth. */
import { setTimeout as delay } from 'node:timers/promises';
import { createRng, type EnvHandle, type Policy } from '@toolenv/core';
import { mixEnvs, transformObservation, transformReward } from '@toolenv/core/wrappers';
import { evaluate } from '@toolenv/training';
import { type Family, openFamily } from '../tiny-policy/families.ts';
import { withToldPrice } from '../tiny-policy/told-price.ts';
import type { Study } from './studies.ts';

export type Datasets = Readonly<Partial<Record<Family, EnvHandle<unknown>>>>;

/** @param seed Seeds the world, which all families share. */
export async function openDatasets(
  names: readonly Family[],
  seed: number,
  maxTurns?: number,
): Promise<Datasets> {
  const open: Partial<Record<Family, EnvHandle<unknown>>> = {};
  for (const name of names) open[name] = await openFamily(name, seed, maxTurns);
  return open;
}

export interface TrainingConditions {
  /** What a search costs, which the questions tell. Default: the rewards of the environment, and no price is told. */
  prices?: readonly number[] | undefined;
  /** Rewards the exact match, whatever the price. */
  ignoresPrices?: boolean | undefined;
  /** Least and most seconds that a search takes. */
  searchSeconds?: readonly [number, number] | undefined;
  /** Seeds these seconds. */
  seed: number;
}

/** The environment that agents train in. */
export function trainingEnv(
  open: Datasets,
  names: readonly Family[],
  { prices, ignoresPrices, searchSeconds, seed }: TrainingConditions,
): EnvHandle<unknown> {
  const changed = (env: EnvHandle<unknown>) => {
    const priced = prices ? withToldPrice(env, prices) : env;
    const rewarded = ignoresPrices ? withoutPrice(priced) : priced;
    return searchSeconds ? withLatency(rewarded, searchSeconds, seed) : rewarded;
  };
  return mixEnvs(Object.fromEntries(names.map((name) => [name, changed(open[name]!)])));
}

/** The exact match is the reward. */
function withoutPrice(env: EnvHandle<unknown>): EnvHandle<unknown> {
  const { em, utility, ...rest } = env.episode().spec.rewards;
  const rewards = { ...rest, em: { ...em!, weight: 1 }, utility: { ...utility!, weight: 0 } };
  return transformReward(env, { rewards, transform: (given) => given });
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

export async function closeDatasets(open: Datasets): Promise<void> {
  for (const env of Object.values(open)) await env.close();
}

/** Means over the questions. */
export interface Score {
  /** Exact match. */
  em: number;
  f1: number;
  searches?: number;
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
  const { em, f1, searches } = (await evaluate({ ...run, env, policy, maxTokens: 64 })).means;
  return { em: em ?? 0, f1: f1 ?? 0, searches: searches ?? 0 };
}

/** What rows are scored on. */
interface Examined {
  name: string;
  family: Family;
  /** What a search costs, which the questions tell. */
  price?: number;
}

/** Each dataset; where searches have a price, each dataset at each price. */
export function examinationsOf({ scoredOn, prices }: Pick<Study, 'scoredOn' | 'prices'>): Examined[] {
  if (!prices) return scoredOn.map((family) => ({ name: family, family }));
  return scoredOn.flatMap((family) =>
    prices.map((price) => ({ name: `${family} at ${price}`, family, price })),
  );
}

/** Scores answers to test questions. Default temperature: 0. */
export async function scoreAll(
  study: Pick<Study, 'scoredOn' | 'prices'>,
  open: Datasets,
  policy: Policy | ((family: Family) => Promise<Policy>),
  run: Examination & { temperature?: number },
): Promise<Record<string, Score>> {
  const scores: Record<string, Score> = {};
  for (const { name, family, price } of examinationsOf(study)) {
    const env = price === undefined ? open[family]! : withToldPrice(open[family]!, [price]);
    const player = typeof policy === 'function' ? await policy(family) : policy;
    scores[name] = await score(env, player, { ...run, split: 'test' });
  }
  return scores;
}
