/** The data files of agents that learn from other episodes: the demonstrator's, or the start policy's. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { collect, deriveSeed, type EnvHandle, type Policy, rollout, type Trajectory } from '@toolenv/core';
import { writeAtomic } from '@toolenv/core/files';
import { drawEpisodes } from '@toolenv/training';
import { conversationOf, demonstrate } from '../../workshop/tiny-policy/demonstrations.ts';
import { type Family, type FamilyOptions, openFamily } from '../../workshop/tiny-policy/families.ts';
import type { Mix } from '../../workshop/tiny-policy/strategies.ts';

/** One episode of the demonstrator for each training question. */
export async function writeDemonstrations(
  file: string,
  names: readonly Family[],
  { mixOf, seed, ...options }: FamilyOptions & { mixOf: (family: Family) => Mix; seed: number },
): Promise<void> {
  const lines: unknown[] = [];
  for (const name of names) {
    const env = await openFamily(name, seed, options);
    const { train } = env.tasks;
    const tasks = await Promise.all(
      Array.from({ length: await train.length }, (_, index) => train.get(index)),
    );
    const lesson = { env, worldSeed: seed, tasks };
    lines.push(...(await demonstrate(lesson, mixOf(name), seed)));
    await env.close();
  }
  await writeLines(file, lines);
}

export interface PairsOptions {
  steps: number;
  tasksPerStep: number;
  groupSize: number;
  maxTokens: number;
  seed: number;
  signal: AbortSignal;
}

/**
 * Pairs of the best and the worst of a group of the policy's own episodes, without groups whose episodes all scored the
 * same. The number of episodes is that of a run of `steps`.
 */
export async function writePairs(
  file: string,
  env: EnvHandle<unknown>,
  policy: Policy,
  { steps, maxTokens, signal, ...groups }: PairsOptions,
): Promise<void> {
  const sampling = { maxTokens, temperature: 1 };
  const lines: unknown[] = [];
  for (let step = 0; step < steps; step++) {
    const episodes = await drawEpisodes(env.tasks.train, groups, step);
    const seed = deriveSeed(groups.seed, 'pairs', step);
    const play = { env, policy, episodes, concurrency: episodes.length, sampling, seed, signal };
    const played = await collect(rollout(play));
    for (let group = 0; group < groups.tasksPerStep; group++)
      lines.push(...pairOf(played.filter((episode) => episode.group === group)));
  }
  await writeLines(file, lines);
}

function pairOf(group: readonly Trajectory[]): unknown[] {
  const byReward = group.filter(({ reward }) => reward !== null).toSorted((a, b) => b.reward! - a.reward!);
  const [best, worst] = [byReward[0], byReward.at(-1)];
  if (!best || !worst || best.reward === worst.reward) return [];
  const { messages: chosen, tools } = conversationOf(best);
  return [{ chosen, rejected: conversationOf(worst).messages, tools }];
}

async function writeLines(file: string, lines: readonly unknown[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeAtomic(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
