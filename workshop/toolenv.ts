/** toolenv: the command line of this repository, from its source. */
import { join } from 'node:path';
import { runNode } from './run-node.ts';

/** Flags of Node, and the command line's script. */
export const script: readonly string[] = [
  ...['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source'],
  join(import.meta.dirname, '../packages/cli/src/main.ts'),
];

/** Runs a command to its end, as {@link runNode} does. */
export async function toolenv(words: readonly string[], signal?: AbortSignal): Promise<void> {
  console.log(`\n$ npx toolenv ${words.join(' ')}`);
  await runNode([...script, ...words], signal);
}
