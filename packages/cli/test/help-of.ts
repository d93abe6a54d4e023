/** Runs the command line in this process, and reads its help. */
import { vi } from 'vitest';
import { runProgram } from '../src/program.ts';

export function run(...argv: string[]): Promise<void> {
  return runProgram(argv, new AbortController().signal);
}

/** What `--help` prints. The end of the test restores stdout. */
export async function helpOf(...argv: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await run(...argv, '--help');
  return write.mock.calls.join('');
}
