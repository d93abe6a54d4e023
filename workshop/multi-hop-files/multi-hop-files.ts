/**
 * `npm run multi-hop-files`: trains the tiny policy, with the demo's settings, on the questions of a synthetic world, as `bridge-v1` asks
 * them and as files of 2WikiMultihopQA and MuSiQue hold them. A run that exists in the file of results is not repeated.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type EnvHandle, openEnv, type Policy } from '@toolenv/core';
import { bridgeQuestions, questionCounts } from '@toolenv/envs-qa';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { evaluate, train, writeWhole } from '@toolenv/training';
import { parseFlags, runAsProcess, TrainingProgress, timeText } from 'toolenv';
import { writeDatasets } from '../datasets/write-datasets.ts';
import { beta, training } from '../demo/setting.ts';
import { commit } from '../leaderboard/commit.ts';
import { digestOf } from '../leaderboard/study-results.ts';
import { pageOf } from './page.ts';
import { appendRun, type Environment, environments, hasSetting, optionsOf, readRuns } from './runs.ts';

const start = 'packages/tiny-policy/checkpoint';

const schema = {
  type: 'object',
  properties: {
    seeds: { type: 'integer', minimum: 1, maximum: 10, default: 2, description: 'worlds' },
    steps: { type: 'integer', minimum: 1, default: 40, description: 'optimizer steps of a run' },
    count: { type: 'integer', minimum: 1, default: 256, description: 'test questions' },
    threads: {
      type: 'integer',
      minimum: 1,
      description: 'of the CPU for one operation (default: one per core)',
    },
    work: {
      type: 'string',
      default: 'runs/multi-hop-files',
      description: 'folder of the files and the runs',
    },
    out: { type: 'string', default: 'docs/benchmarks', description: 'folder of the page and the results' },
  },
} as const;

await runAsProcess(async (signal) => {
  const flags = await parseFlags(schema, {
    name: 'multi-hop-files',
    description: 'Trains on bridge questions from files in the formats of published datasets.',
    argv: process.argv.slice(2),
  });
  if (!flags) return;
  const { seeds, steps, count, threads, work, out } = flags;
  const results = join(out, 'multi-hop-files.jsonl');
  const digest = await digestOf(start);
  const version = commit();
  for (let seed = 1; seed <= seeds; seed++) {
    const files = join(work, `files-${seed}`);
    await writeDatasets(files, [bridgeQuestions], { seed, counts: questionCounts });
    const setting = { seed, steps, count, policy: digest };
    for (const environment of environments) {
      const known = await readRuns(results);
      if (known.some((run) => run.environment === environment && hasSetting(run, setting))) continue;
      process.stdout.write(`${environment}, world ${seed}\n`);
      const begun = performance.now();
      const folder = join(work, `${environment}-${seed}`);
      const { before, after } = await learn(environment, {
        ...{ files, seed, steps, count, threads, folder, signal },
      });
      const seconds = Math.round((performance.now() - begun) / 1000);
      await appendRun(results, { environment, ...setting, before, after, commit: version, seconds });
      process.stdout.write(`  in ${timeText(seconds)}\n`);
    }
  }
  const page = join(out, 'multi-hop-files.md');
  const runs = (await readRuns(results)).filter((run) =>
    hasSetting(run, { seed: run.seed, steps, count, policy: digest }),
  );
  await writeWhole(page, pageOf(runs));
  process.stdout.write(`The page is ${page}.\n`);
});

interface Work {
  /** Folder of the world's files. */
  files: string;
  seed: number;
  steps: number;
  count: number;
  threads: number | undefined;
  /** Of the run. A run that was interrupted there goes on. */
  folder: string;
  signal: AbortSignal;
}

/** Trains the tiny policy, and scores it before and after. */
async function learn(
  environment: Environment,
  { files, seed, steps, count, threads, folder, signal }: Work,
): Promise<{ before: (number | null)[]; after: (number | null)[] }> {
  await using env = await openEnv(`@toolenv/envs-qa/${environment}`, optionsOf(environment, files), { seed });
  await using policy = await loadPolicy(start, { threads });
  const before = await answers(env, policy, { count, seed, signal });
  const trainer = grpo({ ...training, beta, checkpointEvery: 20 });
  const progress = new TrainingProgress(steps);
  const run = { env, policy, trainer, out: folder, resume: existsSync(folder), seed, signal, steps };
  try {
    for await (const event of train({ ...run, trajectories: false })) progress.show(event);
  } finally {
    progress.stop();
  }
  // A run that had finished before an interruption trained in another process.
  await using trained = await loadPolicy(join(folder, 'policy'), { threads });
  return { before, after: await answers(env, trained, { count, seed, signal }) };
}

/** Exact match of the greedy answer to each of the first test questions. */
async function answers(
  env: EnvHandle<unknown>,
  policy: Policy,
  run: { count: number; seed: number; signal: AbortSignal },
): Promise<(number | null)[]> {
  const scores: (number | null)[] = [];
  await evaluate({
    ...run,
    env,
    policy,
    maxTokens: training.maxTokens,
    onTrajectory({ index, rewards }) {
      scores[index] = rewards.em ?? null;
    },
  });
  return scores;
}
