/** Results: a file with one JSON line for each finished run, so that an interrupted study can be resumed. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readJsonLines } from '@toolenv/core/recording';
import type { EnvironmentName } from './environments.ts';
import type { Success } from './examine.ts';

export const rowNames = ['Start', 'SFT on demonstrations', 'GRPO'] as const;
export type RowName = (typeof rowNames)[number];

export interface Result {
  environment: EnvironmentName;
  row: RowName;
  seed: number;
  /** Updates; 0 for the start. */
  steps: number;
  /** SHA-256 of the weights that the row began with, shortened. */
  policy: string;
  /** Test tasks with greedy turns, and with turns sampled at temperature 1. */
  greedy: Success;
  sampled: Success;
  /** The success of greedy turns on validation tasks, by update. */
  curve: [step: number, success: number][];
  /** Of training. */
  seconds: number;
  /** Git commit of the code that ran; `+` marks changes that were not committed. */
  commit: string;
}

export async function readResults(file: string): Promise<Result[]> {
  if (!existsSync(file)) return [];
  const results: Result[] = [];
  for await (const { text } of readJsonLines(file)) results.push(JSON.parse(text));
  return results;
}

export async function appendResult(file: string, result: Result): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${JSON.stringify(result)}\n`);
}
