/** The record of the servers that were tried: one line of JSON each, in the order of the page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tried } from './try-server.ts';

export const recordFile: string = join(import.meta.dirname, 'tried.jsonl');

export function readRecord(): Tried[] {
  const lines = readFileSync(recordFile, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Tried);
}
