/** A lane that computes in a worker thread of its own. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ToolEnvError } from '@toolenv/core';
import type { Drawing } from './draw-token.ts';
import type { Drawn, Lane, Work } from './lane.ts';
import type { Model } from './model.ts';
import type { ModelConfig } from './model-config.ts';
import type { Tensors } from './runtime.ts';

/** What the worker is started with. */
export interface LaneSetup {
  config: ModelConfig;
  /** One number: 1 from the call of `advance` to its answer. */
  busy: Int32Array;
}

type Method = keyof Lane;
type Call<M extends Method> = M extends Method ? { method: M; args: Parameters<Lane[M]> } : never;

/** What the worker is told: new weights, or to call a method of its lane. It answers `advance` only. */
export type ToLane = { weights: Tensors } | Call<Method>;

export type FromLane = { drawn: Drawn } | { code: ToolEnvError['code']; message: string };

export class WorkerLane implements Lane {
  readonly #model: Model;
  readonly #busy: Int32Array = new Int32Array(new SharedArrayBuffer(4));
  #worker: Worker | undefined;
  /** Those that the worker has. */
  #weights: Tensors | undefined;
  #waiting: { resolve(answer: FromLane): void; reject(why: unknown): void } | undefined;
  /** Why the worker, and its cache with it, was lost while nobody waited. */
  #loss: unknown;

  constructor(model: Model) {
    this.#model = model;
  }

  begin(slot: number, drawing: Drawing & { seed: number }): void {
    this.#post({ method: 'begin', args: [slot, drawing] });
  }

  truncate(slot: number, length: number): void {
    this.#post({ method: 'truncate', args: [slot, length] });
  }

  fork(from: number, to: number, length: number): void {
    this.#post({ method: 'fork', args: [from, to, length] });
  }

  async advance(work: Work): Promise<Drawn> {
    const loss = this.#loss;
    this.#loss = undefined;
    if (loss !== undefined) throw loss;
    if (this.#weights !== this.#model.weights) {
      this.#weights = this.#model.weights;
      this.#post({ weights: this.#weights });
    }
    Atomics.store(this.#busy, 0, 1);
    const worker = this.#post({ method: 'advance', args: [work] });
    // Only who waits for an answer keeps the process alive.
    worker.ref();
    try {
      const answer = await new Promise<FromLane>((resolve, reject) => {
        this.#waiting = { resolve, reject };
      });
      if ('drawn' in answer) return answer.drawn;
      throw new ToolEnvError(answer.code, answer.message);
    } finally {
      this.#waiting = undefined;
      worker.unref();
    }
  }

  clear(): void {
    this.#loss = undefined;
    if (this.#worker) this.#post({ method: 'clear', args: [] });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    this.#post({ method: 'close', args: [] });
    this.#forget();
    worker.ref();
    await once(worker, 'exit');
  }

  #post(message: ToLane): Worker {
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
    return this.#worker;
  }

  #start(): Worker {
    const worker = startThread({ config: this.#model.config, busy: this.#busy });
    worker.on('message', (answer: FromLane) => this.#waiting?.resolve(answer));
    worker.on('error', (error) => this.#lost(worker, error));
    worker.on('exit', (code) => {
      const message = `A worker thread of the sampler ended with exit code ${code}.`;
      this.#lost(worker, new ToolEnvError('infrastructure.sampler', message));
    });
    worker.unref();
    endingAtRest.add(this.#busy);
    return worker;
  }

  #lost(worker: Worker, why: unknown): void {
    if (this.#worker !== worker) return;
    if (this.#waiting) this.#waiting.reject(why);
    else this.#loss = why;
    this.#forget();
  }

  #forget(): void {
    this.#worker = undefined;
    this.#weights = undefined;
    endingAtRest.delete(this.#busy);
  }
}

/** A thread that ends in the middle of a run aborts the process: whoever exits waits for the runs to end. */
const endingAtRest = new Set<Int32Array>();
process.on('exit', () => {
  for (const busy of endingAtRest) Atomics.wait(busy, 0, 1, 10_000);
});

function startThread(workerData: LaneSetup): Worker {
  if (!import.meta.url.endsWith('.ts'))
    return new Worker(new URL('./lane-worker.js', import.meta.url), { workerData });
  const source = new URL('./lane-worker-source.mjs', import.meta.url);
  return new Worker(source, { workerData, execArgv: ['--conditions=@toolenv/source'] });
}
