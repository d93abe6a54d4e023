/** The command line of this repository, from its source, as a process whose output is kept. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { script } from '../toolenv.ts';

const root = join(import.meta.dirname, '../..');

export interface Finished {
  stdout: string;
  /** Wall-clock. */
  seconds: number;
}

export interface Started {
  child: ChildProcess;
  /** What stderr has said so far. */
  said(): string;
  /** Throws Error if the command fails. */
  finished: Promise<Finished>;
}

export function startCli(...words: string[]): Started {
  const begun = performance.now();
  const child = spawn(process.execPath, [...script, ...words], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const finished = once(child, 'close').then(([code]) => {
    if (code !== 0) throw new Error(`toolenv ${words.join(' ')} ended with ${code}: ${stderr.slice(-2000)}`);
    return { stdout, seconds: (performance.now() - begun) / 1000 };
  });
  return { child, said: () => stderr, finished };
}

/** Runs a command to its end. Throws Error if it fails. */
export function runCli(...words: string[]): Promise<Finished> {
  return startCli(...words).finished;
}
