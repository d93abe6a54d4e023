/** The results of a study: of its rows, its worlds, its settings, and the policy that it begins with. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { folderName } from '../shared/folder-name.ts';
import type { Score } from './datasets.ts';
import { type Row, type Study, settingsOf } from './study.ts';

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

/** Whether a result is of this experiment. */
export function isOf(result: Result, experiment: Experiment): boolean {
  const { study, row, seed, count, settings, policy } = result;
  return isDeepStrictEqual({ study, row, seed, count, settings, policy }, experiment);
}

/** What all runs of a study have in common. */
export interface Setting {
  /** Of the weights that the study begins with, as {@link digestOf} gives it. */
  policy: string;
  count: number;
}

export function experimentOf(study: Study, row: Row, seed: number, setting: Setting): Experiment {
  return { study: study.name, row: row.name, seed, settings: settingsOf(study, row), ...setting };
}

/** The folder of an experiment's run: its name, and digits of its SHA-256, so that other settings get another folder. */
export function folderOf(experiment: Experiment): string {
  const { study, row, seed } = experiment;
  const digits = createHash('sha256').update(JSON.stringify(experiment)).digest('hex').slice(0, 8);
  return folderName(study, row, seed, digits);
}

/** The newest result of each row and seed that has one, in the order of the rows. */
export function resultsOf(
  study: Study,
  seeds: readonly number[],
  setting: Setting,
  known: readonly Result[],
): Result[] {
  return study.rows.flatMap((row) =>
    seeds.flatMap((seed) => {
      const experiment = experimentOf(study, row, seed, setting);
      return known.findLast((result) => isOf(result, experiment)) ?? [];
    }),
  );
}
