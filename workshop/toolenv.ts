/** toolenv: the command line of this repository, from its source. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const cli = join(import.meta.dirname, '../packages/cli/src/main.ts');

/** Runs `toolenv` to its end. If `signal` aborts, the command keeps what it has done and ends. */
export async function toolenv(words: readonly string[], signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  console.log(`\n$ npx toolenv ${words.join(' ')}`);
  const node = ['--import', 'tsx', '--conditions=@toolenv/source', cli];
  const child = spawn(process.execPath, [...node, ...words], { stdio: 'inherit' });
  const stop = () => child.kill();
  signal?.addEventListener('abort', stop);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  signal?.removeEventListener('abort', stop);
  signal?.throwIfAborted();
  if (code !== 0) throw new Error(`toolenv ${words[0]} ended with ${code}.`);
}
