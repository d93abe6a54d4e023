/** lineOf: a benchmark in a process of its own, so that its peak of memory is its own, too. */
import { spawn } from 'node:child_process';
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
