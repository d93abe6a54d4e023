/** The rows of the study, and what a finished run leaves in the file of results. */
import type { EnvironmentName } from './environments.ts';
import type { Success } from './examine.ts';

export const rowNames = [
  'Start',
  'Best supervised phase',
  'SFT on demonstrations',
  'All right answers',
  'GRPO with shuffled rewards',
  'GRPO',
] as const;
export type RowName = (typeof rowNames)[number];
export type TrainedRow = Exclude<RowName, 'Start' | 'Best supervised phase'>;

export function isTrained(row: RowName): row is TrainedRow {
  return row !== 'Start' && row !== 'Best supervised phase';
}

export interface Result {
  environment: EnvironmentName;
  row: RowName;
  seed: number;
  /** Updates; 0 for policies that the study does not train. */
  steps: number;
  /** SHA-256 of the weights that the row began with, shortened. */
  policy: string;
  /** Test tasks with greedy turns, and with turns sampled at temperature 1. */
  greedy: Success;
  sampled: Success;
  /** The success of greedy turns on validation tasks, by update. */
  curve: [step: number, success: number][];
  /** Success of the episodes that a trainer played itself. */
  played?: number;
  /** Of training. */
  seconds: number;
  /** Git commit of the code that ran; `+` marks changes that were not committed. */
  commit: string;
}

/** Of results in the order in which they were measured, those of the newest policy. */
export function newestOf(results: readonly Result[]): Result[] {
  return results.filter(({ policy }) => policy === results.at(-1)!.policy);
}
