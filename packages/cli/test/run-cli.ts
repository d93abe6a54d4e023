/** Spawns the command from source, in the folder where its fixture plugins are found. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

const main = join(import.meta.dirname, '../src/main.ts');

export const fixture = {
  env: 'fixture-plugin/lamp-v1',
  policy: 'fixture-plugin/weight-v1',
  trainer: 'fixture-plugin/nudge-v1',
  folder: join(import.meta.dirname, 'fixture-plugin'),
};

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
  const nodeArgs = ['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source', main, ...args];
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const child = spawn(process.execPath, nodeArgs, { cwd, env, stdio: [stdin, 'pipe', 'pipe'] });
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

export function runCli(...args: string[]): Promise<Finished> {
  return startCli(args).finished;
}
