/** evaluate: plays an evaluation in a test, and keeps its transcripts. */
import { appendFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Trajectory } from '@toolenv/core';
import { ensureDir, withDiskErrors, writeAtomic } from '@toolenv/core/files';
import { encodeTrajectory } from '@toolenv/core/recording';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import { type Evaluation, type EvaluateOptions as PlayOptions, evaluate as play } from '@toolenv/training';
import { expect } from 'vitest';
import { currentTest } from './current-test.ts';
import { type EvaluationNote, noteOf } from './evaluation-note.ts';

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
