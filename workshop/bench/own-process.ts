/** A benchmark in a process of its own, so that its peak of memory is its own, too, and the file of such results. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

/** The JSON line of `npm run bench -- <words>`. @throws Error if there is none. */
export async function lineOf(words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [process.argv[1]!, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await text(child.stdout);
  if (line === '') throw new Error(`npm run bench -- ${words.join(' ')} failed: its message is above.`);
  return line;
}

/** The lines of a file of results. None if there is no file. */
export async function readLines<Line>(file: string): Promise<Line[]> {
  const found = existsSync(file) ? await readFile(file, 'utf8') : '';
  return found
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
