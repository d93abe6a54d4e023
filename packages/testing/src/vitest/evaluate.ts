/** evaluate: plays an evaluation in a test, and keeps its transcripts. */

import { appendFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Trajectory } from '@toolenv/core';
import { ensureDir, withDiskErrors, writeAtomic } from '@toolenv/core/files';
import { encodeTrajectory } from '@toolenv/core/recording';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import {
  type Evaluation,
  type Interval,
  type EvaluateOptions as PlayOptions,
  evaluate as play,
} from '@toolenv/training';
import { primaryMetric } from '@toolenv/training/runs';
import * as vitest from 'vitest';
import { expect } from 'vitest';

export interface EvaluateOptions<Task = unknown> extends PlayOptions<Task> {
  /**
   * Folder for trajectories.jsonl and summary.json, as `toolenv eval --out` writes them; earlier files of these names are replaced.
   * Default: a folder in node_modules/.toolenv/evaluations, named after the test.
   */
  out?: string;
}

export interface EvaluationResult extends Evaluation {
  /** The folder of its files. */
  out: string;
  /** The file of its episodes, which `toolenv show` and `toolenv view` read. */
  transcripts: string;
}

/**
 * Plays the first tasks of a split, and returns the scores: `await evaluate({ env, policy, count: 64 })`. All options but `out` are
 * those of `evaluate` of `@toolenv/training`. It ends when the test does, at its timeout too.
 * @throws ToolEnvError As that `evaluate` does, `usage.folder` and `infrastructure.disk`.
 */
export async function evaluate<Task>(options: EvaluateOptions<Task>): Promise<EvaluationResult> {
  const test = currentTest();
  const { out = folderOfTest(), signal = test?.context.signal, ...rest } = options;
  const transcripts = join(out, 'trajectories.jsonl');
  await ensureDir(out);
  await withDiskErrors(transcripts, () => rm(transcripts, { force: true }));
  let last: Trajectory | undefined;
  const evaluation = await play({
    ...rest,
    signal,
    async onTrajectory(trajectory) {
      last = trajectory as Trajectory;
      await withDiskErrors(transcripts, () => appendFile(transcripts, `${encodeTrajectory(last!)}\n`));
      await rest.onTrajectory?.(trajectory);
    },
  });
  const { env, policy, finished: _, onTrajectory: __, onProgress: ___, ...given } = rest;
  const summary = { env: last?.env ?? env.ref, envVersion: env.packageVersion, policy: policy.spec.name };
  const text = jsonWithoutSecrets({ ...summary, ...given, ...evaluation }, 2);
  await writeAtomic(join(out, 'summary.json'), `${text}\n`);
  const result = { ...evaluation, out, transcripts };
  if (test) {
    const meta = test.meta as { toolenv?: EvaluationNote[] };
    meta.toolenv = [...(meta.toolenv ?? []), noteOf(result, { ...summary, passScore: given.passScore })];
  }
  return result;
}

/** How many evaluations each test has had. */
const counts = new WeakMap<object, number>();
/** Stands for the hooks of a file. */
const noTest = {};

function folderOfTest(): string {
  const { testPath = '', currentTestName = '' } = expect.getState();
  const key = currentTest() ?? noTest;
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  const words = `${basename(testPath)} ${currentTestName}`.slice(0, 120);
  const name = `${words}${count === 1 ? '' : ` ${count}`}`;
  return join('node_modules/.toolenv/evaluations', name.trim().replaceAll(/[^\p{L}\p{N}.]+/gu, '-'));
}

/** What evaluations use of a test. */
interface CurrentTest {
  meta: object;
  context: { signal?: AbortSignal };
}

// Since Vitest 4.1, vitest/suite warns.
const runner: unknown = Object(vitest).TestRunner;
const { getCurrentTest } = (
  typeof Object(runner).getCurrentTest === 'function' ? runner : await import('vitest/suite')
) as { getCurrentTest(): CurrentTest | undefined };

/** `undefined` in hooks and outside of tests. */
function currentTest(): CurrentTest | undefined {
  return getCurrentTest();
}

/** What a test tells the reporter of an evaluation. Vitest carries it in `meta.toolenv` of the test. */
export interface EvaluationNote {
  env: string | undefined;
  policy: string;
  /** Mean and 95 % interval by metric. */
  scores: Record<string, { mean: number | null; interval: Interval | null }>;
  /** Tasks played. */
  count: number;
  aborted: number;
  /** Episodes that ended and that nothing scored. */
  unscored?: number | undefined;
  /** The metric that says which tasks failed, and these tasks. */
  metric: string;
  failed: { index: number; question: string; score: number }[];
  transcripts: string;
}

/** @param about `passScore` is the lowest mean score of a task that did not fail. */
function noteOf(
  {
    means,
    intervals,
    reward,
    rewardInterval,
    tasks,
    aborted,
    unscored,
    transcripts,
  }: Evaluation & { transcripts: string },
  {
    env,
    policy,
    passScore = 1,
  }: { env?: string | undefined; policy: string; passScore?: number | undefined },
): EvaluationNote {
  const components = Object.keys(means);
  const metric = primaryMetric(components) ?? 'reward';
  const failed = tasks.flatMap((task) => {
    const own = task.scores[metric] ?? task.reward;
    const score = own.reduce((sum, value) => sum + value, 0) / own.length;
    // A task without a score did not fail.
    return score < passScore ? [{ index: task.index, question: task.question, score }] : [];
  });
  const scores = [
    ['reward', { mean: reward, interval: rewardInterval }] as const,
    ...components.map((name) => [name, { mean: means[name]!, interval: intervals[name]! }] as const),
  ];
  return {
    ...{ env, policy, scores: Object.fromEntries(scores), count: tasks.length, aborted, unscored },
    ...{ metric, failed, transcripts },
  };
}
