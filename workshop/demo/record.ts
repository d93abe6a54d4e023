/** recordRun: keeps the figures of a run of the demo, from which `npm run numbers` fills the pages. */
import { readFile, writeFile } from 'node:fs/promises';
import { commit } from '../commit.ts';
import type { DemoRun } from '../numbers/benchmark-files.ts';

/**
 * Puts a run into a file of JSON lines, in place of the run with the same seed and the same kind of rewards.
 * @throws Error What reading or writing the file throws; a file that does not exist is made.
 */
export async function recordRun(file: string, run: DemoRun): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const known = text.split('\n').filter((line) => line !== '');
  const line = JSON.stringify({ ...run, commit: commit(), node: process.version });
  const at = known.findIndex((other) => {
    const { seed, shuffleRewards }: DemoRun = JSON.parse(other);
    return seed === run.seed && shuffleRewards === run.shuffleRewards;
  });
  if (at < 0) known.push(line);
  else known[at] = line;
  await writeFile(file, known.map((each) => `${each}\n`).join(''));
}
