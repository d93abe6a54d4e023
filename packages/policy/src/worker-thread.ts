/** Worker threads of this package: started from source or as built, and not ended in the middle of a run. */
import { Worker } from 'node:worker_threads';
import type { Runtime, Tensors } from './runtime.ts';

/** Threads beyond this many are too small a share of the work each. */
const mostThreads = 8;
/** Each thread has weights of its own, and some twice: as they are and as products read them. */
const mostBytes = 128 * 2 ** 20;

/**
 * How many threads should share the work of a model, with one of ONNX Runtime's each: small operations gain little from threads
 * that they share. 1 for large models and other runtimes, whose operations have the threads.
 */
export function worthwhileThreads({ threads = 1 }: Runtime, weights: Tensors): number {
  return isSmall(weights) ? Math.min(threads, mostThreads) : 1;
}

/** Whether copies of these weights are cheap. */
export function isSmall(weights: Tensors): boolean {
  return Object.values(weights).reduce((sum, { data }) => sum + data.byteLength, 0) <= mostBytes;
}

/** @param file The thread's module beside `base`, an `import.meta.url`, without its extension. */
export function startThread(base: string, file: string, workerData?: unknown): Worker {
  if (!base.endsWith('.ts')) return new Worker(new URL(`${file}.js`, base), { workerData });
  return new Worker(new URL('./worker-source.mjs', import.meta.url), {
    workerData,
    argv: [new URL(`${file}.ts`, base).href],
    execArgv: ['--conditions=@toolenv/source'],
  });
}

/**
 * How many runs a thread has been given and not ended, in shared memory. A thread that ends in the middle of a run aborts the
 * process: whoever exits waits for the runs to end.
 */
export class RunCount {
  static readonly #open = new Set<RunCount>();
  readonly shared: Int32Array;

  constructor(shared: Int32Array = new Int32Array(new SharedArrayBuffer(4))) {
    this.shared = shared;
  }

  static {
    process.on('exit', () => {
      for (const count of RunCount.#open) count.#waitForRest();
    });
  }

  /** From now on, until `release`, this process does not exit while runs go on. */
  watch(): void {
    RunCount.#open.add(this);
  }

  release(): void {
    RunCount.#open.delete(this);
  }

  begin(): void {
    Atomics.add(this.shared, 0, 1);
  }

  end(): void {
    Atomics.sub(this.shared, 0, 1);
    Atomics.notify(this.shared, 0);
  }

  #waitForRest(): void {
    const patience = performance.now() + 10_000;
    for (let left = 10_000; left > 0; left = patience - performance.now()) {
      const running = Atomics.load(this.shared, 0);
      if (running === 0) return;
      Atomics.wait(this.shared, 0, running, left);
    }
  }
}
