/** Results: a file with one JSON line for each finished run, so that an interrupted leaderboard can be resumed. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readJsonLines } from '@toolenv/core/recording';
import type { Score } from './datasets.ts';

export interface Result {
  row: string;
  seed: number;
  /** Training steps; 0 for a baseline. */
  steps: number;
  /** Number of test questions of each dataset. */
  count: number;
  /** By dataset. */
  scores: Record<string, Score>;
  /** For a baseline, the best prompt on validation questions. */
  prompt?: string;
  seconds: number;
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
