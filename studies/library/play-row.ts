/** playRow: trains the small policy in one environment, if the row is a trainer, and scores it. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvHandle } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { rejectionSampling, sft } from '@toolenv/trainer-sft';
import { readMetrics, train } from '@toolenv/training';
import { demonstrations } from '../../workshop/tiny-policy/demonstrations.ts';
import { library } from '../../workshop/tiny-policy/library/library.ts';
import { libraryEpisodes } from '../../workshop/tiny-policy/library/library-episodes.ts';
import { type LibraryEnvironment, openLibraryEnv } from '../../workshop/tiny-policy/library/player.ts';
import { folderName } from '../shared/folder-name.ts';
import { type EnvironmentName, environments } from './environments.ts';
import { examine } from './examine.ts';
import { isTrained, type Result, type RowName, type TrainedRow } from './results.ts';

/** What every row is played with. */
export interface Means {
  /** Folder of the policy that every row begins with. */
  policy: string;
  /** Folder of the policy of the row "Best supervised phase". */
  supervised: string;
  /** Folder of the runs. A run that was interrupted there resumes. */
  work: string;
  /** Updates. */
  steps: number;
  /** Test tasks. */
  count: number;
  threads?: number;
  signal: AbortSignal;
}

export type Played = Pick<Result, 'greedy' | 'sampled'> & Course;
type Course = Pick<Result, 'curve' | 'played' | 'seconds'>;

const groupSize = 8;
/** Episodes of household are four times as long as others. */
const tasksPerStep = (name: EnvironmentName) => (name === 'household' ? 8 : 16);
const learningRate = 1e-4;
/** Updates between evaluations on validation tasks, and tasks of an evaluation. */
const evaluation = { evaluateEvery: 10, evaluationEpisodes: 100, evaluateFirst: true };

export async function playRow(
  name: EnvironmentName,
  row: RowName,
  seed: number,
  means: Means,
): Promise<Played> {
  const environment: LibraryEnvironment<unknown> = environments[name];
  await using env = await openLibraryEnv(environment, seed);
  const out = join(means.work, folderName(name, row, seed));
  if (isTrained(row)) await learn({ name, row, seed, env, out }, means);
  const folder = isTrained(row) ? join(out, 'policy') : row === 'Start' ? means.policy : means.supervised;
  await using policy = await loadPolicy(folder, { threads: means.threads });
  const { count, signal } = means;
  const scored = (temperature: number) =>
    examine(environment, env, policy, { count, temperature, seed, signal });
  const course = isTrained(row) ? await courseOf(out, environment) : { curve: [], seconds: 0 };
  return { greedy: await scored(0), sampled: await scored(1), ...course };
}

interface Lesson {
  name: EnvironmentName;
  row: TrainedRow;
  seed: number;
  env: EnvHandle<unknown>;
  out: string;
}

/** All trainers make as many updates from as many episodes. */
async function learn({ name, row, seed, env, out }: Lesson, means: Means): Promise<void> {
  const { steps, threads, signal } = means;
  const { maxTokens } = environments[name];
  await using policy = await loadPolicy(means.policy, { threads });
  const resume = existsSync(out);
  const run = { env, policy, out, resume, seed, signal, steps, maxTokens, learningRate, ...evaluation };
  const kept = { trajectories: false, checkpointEvery: evaluation.evaluateEvery, keepCheckpoints: 1 };
  const episodes = { tasksPerStep: tasksPerStep(name), groupSize };
  const batchSize = episodes.tasksPerStep * groupSize;
  if (row === 'SFT on demonstrations') {
    const data = `${out}.jsonl`;
    if (!resume) await writeEpisodes(data, name, seed, steps * batchSize);
    for await (const _ of train({ ...run, ...kept, trainer: sft, data, batchSize }));
    return;
  }
  const played = { ...run, ...kept, ...episodes, temperature: 1 };
  if (row === 'All right answers') {
    const chosen = { keep: groupSize, judgedBy: environments[name].success };
    for await (const _ of train({ ...played, ...chosen, trainer: rejectionSampling }));
  } else {
    const shuffleRewards = row === 'GRPO with shuffled rewards';
    for await (const _ of train({ ...played, shuffleRewards, trainer: grpo }));
  }
}

/** Faultless episodes, of the goals that the policy has been shown. */
async function writeEpisodes(
  file: string,
  name: EnvironmentName,
  seed: number,
  count: number,
): Promise<void> {
  const source =
    name in library
      ? libraryEpisodes({ name: name as keyof typeof library, seed })
      : demonstrations({ family: 'bridge', mix: { followHops: 1 }, leavesOut: true, seed });
  const lines: string[] = [];
  while (lines.length < count) lines.push(`${JSON.stringify((await source.next()).value)}\n`);
  await source.return(undefined as never);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, lines.join(''));
}

async function courseOf(out: string, { success }: LibraryEnvironment<unknown>): Promise<Course> {
  const lines = await readMetrics(out);
  const valuesOf = (kind: string, metric: string) =>
    lines.flatMap(({ type, step, metrics }): [number, number][] => {
      const value = metrics[metric];
      return type === kind && value !== undefined ? [[step, value]] : [];
    });
  const sum = (values: [number, number][]) => values.reduce((total, [, value]) => total + value, 0);
  const played = valuesOf('rollout', `rewards/${success}/mean`);
  return {
    curve: valuesOf('evaluation', `rewards/${success}/mean`),
    ...(played.length > 0 && { played: sum(played) / played.length }),
    seconds: Math.round(sum(valuesOf('update', 'step_time'))),
  };
}
