/** A worker thread that runs programs. It starts with the first run, and keeps no process alive while it has none. */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { ToolEnvError } from '@toolenv/core';
import type { Tensor, Tensors } from '../runtime.ts';
import { RunCount, startThread } from '../worker-thread.ts';

/** A program as it is sent: its model, and the names of its inputs. */
export interface SentProgram {
  program: number;
  model: Uint8Array;
  names: readonly string[];
}

/** A program to open, inputs to run one with, one to close, or the end of the thread. Only runs are answered. */
export type ToSession =
  | SentProgram
  | { program: number; run: number; inputs: Tensors }
  | { program: number }
  | { end: true };

export type FromSession = { run: number; outputs: Tensors } | { run: number; message: string };

interface Waiting {
  resolve(outputs: Tensors): void;
  reject(why: unknown): void;
}

export class SessionThread {
  #worker: Worker | undefined;
  #runs: RunCount = new RunCount();
  readonly #waiting: Map<number, Waiting> = new Map();
  /** The inputs of each program that the thread has, by name. */
  readonly #sent: Map<number, Map<string, Tensor>> = new Map();
  #count = 0;

  /** Runs that have not ended. */
  get load(): number {
    return this.#waiting.size;
  }

  /** Inputs that the thread was given last time are not sent again. */
  async run(program: SentProgram, inputs: Tensors): Promise<Tensors> {
    const missing = program.names.find((name) => !inputs[name]);
    if (missing !== undefined) throw new RangeError(`Input "${missing}" is missing.`);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    let sent = this.#sent.get(program.program);
    if (!sent) {
      sent = new Map();
      this.#sent.set(program.program, sent);
      this.#post(program);
    }
    const fresh: Tensors = {};
    for (const name of program.names) {
      const value = inputs[name]!;
      if (sent.get(name) === value) continue;
      sent.set(name, value);
      fresh[name] = value;
    }
    const run = this.#count++;
    this.#runs.begin();
    this.#post({ program: program.program, run, inputs: fresh });
    worker.ref();
    return new Promise((resolve, reject) => this.#waiting.set(run, { resolve, reject }));
  }

  closeProgram(program: number): void {
    if (this.#sent.delete(program)) this.#post({ program });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    this.#post({ end: true });
    this.#forget();
    worker.ref();
    await once(worker, 'exit');
  }

  #post(message: ToSession): void {
    this.#worker!.postMessage(message);
  }

  #start(): Worker {
    this.#runs = new RunCount();
    const worker = startThread(import.meta.url, './session-worker', this.#runs.shared);
    worker.on('message', (answer: FromSession) => {
      const waiting = this.#waiting.get(answer.run);
      this.#waiting.delete(answer.run);
      if (this.#waiting.size === 0) worker.unref();
      if ('outputs' in answer) waiting?.resolve(answer.outputs);
      else waiting?.reject(new ToolEnvError('bug.run', answer.message));
    });
    worker.on('error', (error) => this.#lost(worker, error));
    worker.on('exit', (code) => {
      const message = `A worker thread of the learner ended with exit code ${code}.`;
      this.#lost(worker, new ToolEnvError('infrastructure.learner', message));
    });
    worker.unref();
    this.#runs.watch();
    return worker;
  }

  #lost(worker: Worker, why: unknown): void {
    if (this.#worker !== worker) return;
    const waiting = [...this.#waiting.values()];
    this.#forget();
    for (const { reject } of waiting) reject(why);
  }

  #forget(): void {
    this.#worker = undefined;
    this.#sent.clear();
    this.#waiting.clear();
    this.#runs.release();
  }
}
