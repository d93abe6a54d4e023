/** A file with one JSON line for each finished run, so that an interrupted study can be resumed. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readJsonLines } from '@toolenv/core/files';

/** @typeParam Finished What a line of the file has. */
export async function readResults<Finished>(file: string): Promise<Finished[]> {
  if (!existsSync(file)) return [];
  const results: Finished[] = [];
  for await (const { text } of readJsonLines(file)) results.push(JSON.parse(text));
  return results;
}

export async function appendResult<Finished>(file: string, result: Finished): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${JSON.stringify(result)}\n`);
}
