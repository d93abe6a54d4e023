/** Results: one line of JSON for each finished run, so that an interrupted table goes on where it stopped. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Score } from './datasets.ts';

export interface Result {
  row: string;
  seed: number;
  /** Of training; 0 for a baseline. */
  steps: number;
  /** Test questions of each dataset. */
  count: number;
  /** By dataset. */
  scores: Record<string, Score>;
  /** Of a baseline: the prompt that did best on validation questions. */
  prompt?: string;
  seconds: number;
}

export async function readResults(file: string): Promise<Result[]> {
  if (!existsSync(file)) return [];
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Result);
}

export async function appendResult(file: string, result: Result): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${JSON.stringify(result)}\n`);
}
