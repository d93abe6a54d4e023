/** runNode: a script as a process of its own. */
import { spawn } from 'node:child_process';

/**
 * Runs a script to its end. If `signal` aborts, the script is interrupted once, and ends in its own way.
 * @throws Error if the script fails, and the signal's reason.
 */
export async function runNode(words: readonly string[], signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  // Ctrl-C in a terminal interrupts all processes of a group, and a second interruption would end the script at once.
  const child = spawn(process.execPath, words, { stdio: 'inherit', detached: true });
  const interrupt = () => child.kill('SIGINT');
  signal?.addEventListener('abort', interrupt);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  signal?.removeEventListener('abort', interrupt);
  signal?.throwIfAborted();
  if (code !== 0) throw new Error(`node ${words.join(' ')} ended with ${code}.`);
}

/** Runs this script once more, with these flags instead of its own. */
export async function runAgain(flags: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void> {
  const script = [...process.execArgv, process.argv[1]!];
  await runNode([...script, ...flagsOf(flags)], signal);
}

/** `{ maxTokens: 8, tune: true }` as `--max-tokens 8 --tune`. */
export function flagsOf(values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const flag = `--${kebabCase(name)}`;
    if (value === undefined || value === false) return [];
    return value === true ? [flag] : [flag, String(value)];
  });
}

function kebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
