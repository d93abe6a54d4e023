/** Starts the built command as a process, for what only a process has: signals, pipes, standard input, servers, memory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Finished } from './captured.ts';
import { fixture } from './fixture.ts';

/** The built command. */
export const cli: string = join(import.meta.dirname, '../dist/main.js');

/** A test that times out leaves its command running: it ends with the tests. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** @param input What the command reads from stdin; nothing by default. */
export function startCli(
  args: string[],
  cwd: string = fixture.folder,
  env: NodeJS.ProcessEnv = process.env,
  input?: string,
): { child: ChildProcess; finished: Promise<Finished> } {
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const child = spawn(process.execPath, [cli, ...args], { cwd, env, stdio: [stdin, 'pipe', 'pipe'] });
  child.stdin?.end(input);
  running.add(child);
  const output = { stdout: '', stderr: '' };
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const finished = once(child, 'close').then(([code]) => {
    running.delete(child);
    return { code: code as number | null, ...output };
  });
  return { child, finished };
}
