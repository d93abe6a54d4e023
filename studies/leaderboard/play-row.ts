/** playRow: trains an agent if the row is one, and scores it on the test questions. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Policy } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { readMetrics, train } from '@toolenv/training';
import { TrainingProgress } from 'toolenv';
import { habitualMix } from '../../workshop/tiny-policy/recipes.ts';
import { mixAt, playDemonstrator, playPrompted } from './baselines.ts';
import { writeDemonstrations, writePairs } from './data-files.ts';
import { type Datasets, type Examination, scoreAll, trainingEnv } from './datasets.ts';
import type { Experiment, Result } from './results.ts';
import { type Agent, type Baseline, optionsOf, type Row, type Study } from './study.ts';

export type Played = Omit<Result, keyof Experiment | 'commit' | 'seconds'> & Partial<Pick<Result, 'seconds'>>;

/** What rows are played with. */
export interface Means {
  /** Folder of the agent's run. A run that was interrupted there resumes. */
  out: string;
  /** Folder of the policy of the row "Best supervised phase". */
  supervised: string;
  /** Threads of the CPU that compute one operation. Default: one per physical core. */
  threads?: number;
}

export function playRow(
  row: Row,
  study: Study,
  worlds: Datasets,
  run: Examination,
  means: Means,
): Promise<Played> {
  if ('plays' in row) return playBaseline(row, study, worlds, run, means);
  return playAgent(row, study, worlds, run, means);
}

async function playBaseline(
  { plays, price }: Baseline,
  study: Study,
  worlds: Datasets,
  run: Examination,
  { supervised, threads }: Means,
): Promise<Played> {
  const { scoredOn, trainsOn } = study;
  if (plays === 'demonstrator') return playDemonstrator(worlds, scoredOn, run, price);
  await using policy = await loadPolicy(plays === 'supervised' ? supervised : study.policy, { threads });
  if (plays === 'supervised' || plays === 'start') return scoresOf(study, worlds, policy, run);
  return playPrompted(plays, worlds, policy, { trainsOn, scoredOn }, run);
}

async function playAgent(
  row: Agent,
  study: Study,
  worlds: Datasets,
  run: Examination,
  { out, threads }: Means,
): Promise<Played> {
  await learn(row, study, worlds, { ...run, out, threads });
  // Where the study evaluates, this is the policy of the best evaluation.
  await using policy = await loadPolicy(join(out, 'policy'), { threads });
  return { ...(await scoresOf(study, worlds, policy, run)), ...(await courseOf(out, study)) };
}

/** The scores of greedy answers, and of sampled answers where the study asks for them. */
async function scoresOf(
  { scoredOn, scoresSamples, temperature }: Study,
  worlds: Datasets,
  policy: Policy,
  run: Examination,
): Promise<Pick<Played, 'scores' | 'sampled'>> {
  const scores = await scoreAll(worlds, scoredOn, policy, run);
  if (!scoresSamples) return { scores };
  return { scores, sampled: await scoreAll(worlds, scoredOn, policy, { ...run, temperature }) };
}

/** Trains in the folder `out`. */
async function learn(
  row: Agent,
  study: Study,
  worlds: Datasets,
  { out, seed, signal, threads }: Examination & { out: string; threads: number | undefined },
): Promise<void> {
  const env = trainingEnv(worlds, study.trainsOn, {
    price: row.price,
    searchSeconds: row.searchSeconds,
    seed,
  });
  const { steps, tasksPerStep, groupSize, maxTokens } = study;
  await using policy = await loadPolicy(study.policy, { threads });
  const data = `${out}.jsonl`;
  if (row.data?.endsWith('demonstrations'))
    await writeDemonstrations(data, study.trainsOn, {
      mixOf: (family) => (row.data === 'habitual-demonstrations' ? habitualMix : mixAt(row.price, family)),
      maxTurns: study.maxTurns,
      seed,
    });
  if (row.data === 'start-episodes')
    await writePairs(data, env, policy, { steps, tasksPerStep, groupSize, maxTokens, seed, signal });
  const run = {
    env,
    policy,
    trainer: row.trainer,
    out,
    resume: existsSync(out),
    seed,
    signal,
    trajectories: false,
    checkpointEvery: 0,
  };
  const options: Record<string, unknown> = { ...optionsOf(study, row), ...(row.data && { data }) };
  const progress = new TrainingProgress(Number(options.steps));
  try {
    for await (const event of train<Record<string, unknown>>({ ...run, ...options })) progress.show(event);
  } finally {
    progress.stop();
  }
}

/** How a run went: its length, interruptions left out, its best evaluation, and what its first and last step were like. */
export async function courseOf(out: string, { bestMetric, prices }: Study): Promise<Omit<Played, 'scores'>> {
  const lines = await readMetrics(out);
  const valuesOf = (kind: string, metric: string) =>
    lines.flatMap(({ type, metrics }) => (type === kind ? (metrics[metric] ?? []) : []));
  const stepsInAll = Math.max(...lines.map(({ step }) => step));
  const seconds = Math.round(valuesOf('update', 'step_time').reduce((sum, time) => sum + time, 0));
  const [firstGradNorm] = valuesOf('update', 'grad_norm');
  const perplexities = valuesOf('rollout', 'rollout_corr/rollout_log_ppl');
  const course = {
    stepsInAll,
    seconds,
    ...(firstGradNorm !== undefined && { firstGradNorm }),
    ...(perplexities.length > 0 && {
      logPerplexity: { first: perplexities[0]!, last: perplexities.at(-1)! },
    }),
  };
  if (bestMetric === undefined) return { ...course, steps: stepsInAll };
  const evaluations = lines.filter(({ type }) => type === 'evaluation');
  const best = evaluations.reduce((a, b) => (b.metrics[bestMetric]! > a.metrics[bestMetric]! ? b : a));
  const cost = prices ? prices[0]! * best.metrics['rewards/searches/mean']! : 0;
  return { ...course, steps: best.step, validation: best.metrics[bestMetric]! - cost };
}
