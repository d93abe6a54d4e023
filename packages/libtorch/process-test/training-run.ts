/** A short run of the built `toolenv train` on libtorch, with one thread, and its engine. */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type KillableRun, trainWords } from '../../../workshop/chaos/kills/killable-run.ts';
import type { Finished } from '../../cli/test/captured.ts';
import { startCli } from '../../cli/test/start-cli.ts';
import { enginesOf } from './engines.ts';

const root = join(import.meta.dirname, '../../..');

export class TrainingRun {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  readonly #out: string;

  /** @param env More variables. */
  constructor(out: string, { more, ...run }: KillableRun = {}, env: NodeJS.ProcessEnv = {}) {
    const words = trainWords(out, { ...run, more: { runtime: 'libtorch', threads: 1, ...more } });
    const { child, finished } = startCli(words, root, { ...process.env, ...env });
    this.child = child;
    this.finished = finished;
    this.#out = out;
  }

  get isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** The engine's process; `undefined` if the run is over before it is there. */
  async engine(): Promise<number | undefined> {
    while (!this.isOver) {
      const [engine] = enginesOf(this.child.pid);
      if (engine !== undefined) return engine;
      await sleep(5);
    }
    return undefined;
  }

  /** Resolves once a checkpoint is there, or the run is over. */
  async hasCheckpoint(): Promise<void> {
    while (!this.isOver && !existsSync(join(this.#out, 'checkpoints', 'step-1'))) await sleep(5);
  }
}

/** The lines that a command wrote to stderr, without its progress bar. */
export function linesOf({ stderr }: Finished): string[] {
  return stderr.split('\n').filter((line) => line !== '' && !/^\w+ +[█░]/.test(line));
}
