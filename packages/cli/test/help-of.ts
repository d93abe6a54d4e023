/** Runs the command line in this process, and reads its help. */
import { vi } from 'vitest';
import { runProgram } from '../src/program.ts';

export function run(...argv: string[]): Promise<void> {
  return runProgram(argv, new AbortController().signal);
}

/** What `--help --all` prints. */
export function helpOf(...argv: string[]): Promise<string> {
  return printed(...argv, '--help', '--all');
}

/** What `--help` prints. */
export function shortHelpOf(...argv: string[]): Promise<string> {
  return printed(...argv, '--help');
}

async function printed(...argv: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await run(...argv);
    return write.mock.calls.join('');
  } finally {
    write.mockRestore();
  }
}
