/** Runs: the environments that are compared, and the file with one JSON line for each finished run. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readJsonLines } from '@toolenv/core/recording';
import { envOptions } from '../demo/setting.ts';

/** `bridge-v1`, and the environments that read its questions from files. */
export const environments = ['bridge-v1', '2wikimultihopqa-v1', 'musique-v1'] as const;
export type Environment = (typeof environments)[number];

/** @param folder What `writeDatasets` wrote for the world. */
export function optionsOf(environment: Environment, folder: string): Record<string, unknown> {
  if (environment === 'bridge-v1') return envOptions;
  const [dataset, name]: [string, (split: string) => string] =
    environment === 'musique-v1'
      ? ['musique', (split) => `musique_ans_v1.0_${split}.jsonl`]
      : ['2wikimultihopqa', (split) => `${split}.json`];
  const at = (split: string) => join(folder, dataset, name(split));
  const aliases = join(folder, dataset, 'id_aliases.json');
  return {
    ...envOptions,
    path: at('train'),
    validationPath: at('dev'),
    testPath: at('test'),
    ...(environment === '2wikimultihopqa-v1' && { aliasPath: aliases }),
  };
}

/** What makes a run the run that it is. */
export interface Setting {
  /** Seeds the world, its questions and the training. */
  seed: number;
  /** Optimizer steps. */
  steps: number;
  /** Test questions. */
  count: number;
  /** Digits of the SHA-256 of the weights that the run begins with. */
  policy: string;
}

export interface Run extends Setting {
  environment: Environment;
  /** Exact match of the greedy answer to each test question; `null` for an aborted episode. */
  before: (number | null)[];
  after: (number | null)[];
  /** Git commit of the code that ran; `+` marks changes that were not committed. */
  commit: string;
  seconds: number;
}

export async function readRuns(file: string): Promise<Run[]> {
  if (!existsSync(file)) return [];
  const runs: Run[] = [];
  for await (const { text } of readJsonLines(file)) runs.push(JSON.parse(text));
  return runs;
}

export async function appendRun(file: string, run: Run): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${JSON.stringify(run)}\n`);
}

/** Whether a run has the setting. */
export function hasSetting(run: Run, { seed, steps, count, policy }: Setting): boolean {
  return run.seed === seed && run.steps === steps && run.count === count && run.policy === policy;
}
