/** What a finished run leaves in the file of results. */
import type { Line } from '../../workshop/gallery/episode-svg.ts';
import { environments } from './environments.ts';

/** The values of each task, by component of the reward. */
export type TestValues = Readonly<Record<string, readonly number[]>>;

/** The name of the environment's own test. */
export const ownTest = 'test tasks';

export interface Played {
  /** By test: {@link ownTest}, and those of the environment's `transfer`. */
  tests: Readonly<Record<string, TestValues>>;
  /** What was said in the first test tasks. */
  episodes: Line[][];
  /** Tokens that the policy wrote in a test episode, on average. */
  tokens: number;
  /** The mean score of the episodes of each step. */
  curve: number[];
  /** Of training. */
  seconds: number;
}

/** Updates of a run, unless its environment takes too long. */
export const usualSteps = 40;

export interface Result extends Played {
  environment: string;
  row: string;
  seed: number;
  /** Updates of the rows that begin with the policy of another. */
  steps: number;
  /** Where it trained, and on how many threads. */
  machine: string;
  /** Git commit of the code that ran; `+` marks changes that were not committed. */
  commit: string;
}

/** What tells runs apart. */
export function keyOf({
  environment,
  row,
  seed,
  steps,
}: Omit<Result, keyof Played | 'machine' | 'commit'>): string {
  return JSON.stringify([environment, row, seed, steps]);
}

/** The last result of each run: a run that took tests later is in the file again. */
export function newest(results: readonly Result[]): Result[] {
  return [...new Map(results.map((result) => [keyOf(result), result])).values()];
}

/** The scores of the environment's own test tasks. */
export function scoresOf({ environment, tests }: Result): readonly number[] {
  return tests[ownTest]![environments[environment]!.components[0]]!;
}
