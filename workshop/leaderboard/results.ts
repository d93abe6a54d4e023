/** Results: a file with one JSON line for each finished run, so that an interrupted study can be resumed. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readJsonLines } from '@toolenv/core/files';
import type { Score } from './datasets.ts';

/** What makes a run the run that it is. */
export interface Experiment {
  study: string;
  row: string;
  seed: number;
  /** Number of test questions of each dataset. */
  count: number;
  /** The trainer and its options, or how a baseline plays. */
  settings: Readonly<Record<string, unknown>>;
  /** SHA-256 of the weights that the row began with, shortened. */
  policy: string;
}

export interface Result extends Experiment {
  /** Git commit of the code that ran; `+` marks changes that were not committed. */
  commit: string;
  /** By dataset. */
  scores: Record<string, Score>;
  /** The same of sampled answers. */
  sampled?: Record<string, Score>;
  /** Training steps until the weights that were scored. */
  steps?: number;
  /** Training steps in all. */
  stepsInAll?: number;
  /** Exact match of the best evaluation on the validation questions; minus the price of its searches where a study has a price. */
  validation?: number;
  /** Norm of the gradient in the first update of the policy. */
  firstGradNorm?: number;
  /** −log p of the tokens that the policy wrote in the first and in the last step, in nats per token. Absent without rollouts. */
  logPerplexity?: { first: number; last: number };
  /** For a baseline, the best prompt on validation questions. */
  prompt?: string;
  /** Of the training of an agent; of the whole row for a baseline. */
  seconds: number;
}

/** @typeParam Finished What a line of the file has. Default: a result of the leaderboard. */
export async function readResults<Finished = Result>(file: string): Promise<Finished[]> {
  if (!existsSync(file)) return [];
  const results: Finished[] = [];
  for await (const { text } of readJsonLines(file)) results.push(JSON.parse(text));
  return results;
}

export async function appendResult<Finished = Result>(file: string, result: Finished): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${JSON.stringify(result)}\n`);
}

/** Whether a result is of this experiment. */
export function isOf(result: Result, experiment: Experiment): boolean {
  const { study, row, seed, count, settings, policy } = result;
  return isDeepStrictEqual({ study, row, seed, count, settings, policy }, experiment);
}
