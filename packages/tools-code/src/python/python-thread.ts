/** PythonThread: an interpreter in a thread. The only way to stop it is to end the thread: Python can catch everything else. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ToolEnvError } from '@toolenv/core';
import { readSnapshot, saveSnapshot, snapshotFile } from './saved-snapshot.ts';

/** What a call wrote, and how it ended. `killed`: the interpreter is gone, because the call took too long or too much memory, or has broken it. */
export interface PythonResult {
  text: string;
  ok: boolean;
  truncated: boolean;
  killed?: 'time' | 'memory' | 'crash';
}

export interface PythonLimits {
  /** MiB. */
  memory: number;
  /** Milliseconds of a call. */
  timeout: number;
  /** Bytes that are kept of what a call writes. */
  output: number;
}

/** From which interpreters begin. */
export interface Snapshot {
  memory: SharedArrayBuffer;
  /** V8 shares compiled code between threads as long as something holds it. Without this, an interpreter that starts alone compiles all again. */
  code: object;
}

/** Its types are in the library of browsers. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

const program = new URL('./interpreter.js', import.meta.url);
const wasm = createRequire(import.meta.url).resolve('pyodide/pyodide.asm.wasm');

/** Milliseconds in which an interpreter must begin on a busy machine. */
const patience = 120_000;

/** Milliseconds for which the end of a thread is awaited. V8 interrupts no built-in function of JavaScript, such as a search in a huge array. */
const dying = 2_000;

/** Milliseconds between looks at the memory of the process. */
const watch = 50;

/** MiB by which the process may grow during a call, in addition to the limits of the calls that run. */
const slack = 256;

/** MiB of young objects of JavaScript. */
const young = 16;

/** MiB that an interpreter may need in JavaScript. */
function heapOf(memory: number): number {
  return 2 * memory + young;
}

/** Calls that run now in all threads of the process. */
let running = 0;

function start(memory: number, snapshot: SharedArrayBuffer | undefined): Worker {
  // Without the flags and the environment of this process.
  const worker = new Worker(program, {
    execArgv: [],
    env: {},
    workerData: { memory, snapshot },
    resourceLimits: {
      maxOldGenerationSizeMb: heapOf(memory) - young,
      maxYoungGenerationSizeMb: young,
      stackSizeMb: 4,
    },
    stdout: true,
    stderr: true,
  });
  worker.on('error', () => {});
  return worker;
}

/** @throws What the worker throws, or an error if it ends without a word. */
async function firstMessage(worker: Worker, signal?: AbortSignal): Promise<Record<string, unknown>> {
  const ended = new AbortController();
  const onExit = () => ended.abort(new Error('its thread ended before it began'));
  worker.once('exit', onExit);
  try {
    const [message] = await once(worker, 'message', {
      signal: AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]),
    });
    return message;
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    worker.off('exit', onExit);
  }
}

/**
 * Reads the snapshot that another process has saved, or makes it, in some seconds of CPU.
 * @param memory MiB of the interpreters.
 * @throws ToolEnvError `infrastructure.python`.
 */
export async function openSnapshot(memory: number): Promise<Snapshot> {
  try {
    const file = await snapshotFile();
    const [saved, code] = await Promise.all([
      readSnapshot(file),
      readFile(wasm).then((bytes) => WebAssembly.compile(bytes)),
    ]);
    if (saved) return { memory: saved, code };
    const made = await makeSnapshot(memory);
    await saveSnapshot(file, made);
    return { memory: made, code };
  } catch (error) {
    throw pythonFault('Python did not start', error);
  }
}

async function makeSnapshot(memory: number): Promise<SharedArrayBuffer> {
  const worker = start(memory, undefined);
  try {
    const { snapshot } = await firstMessage(worker, AbortSignal.timeout(patience));
    return snapshot as SharedArrayBuffer;
  } finally {
    await worker.terminate();
  }
}

export class PythonThread {
  readonly #worker: Worker;
  readonly #limits: PythonLimits;
  readonly #ready: Promise<unknown>;
  /** Whether it was ended from here. */
  #closed = false;

  constructor(limits: PythonLimits, { memory }: Snapshot) {
    this.#limits = limits;
    this.#worker = start(limits.memory, memory);
    this.#ready = firstMessage(this.#worker);
    // Whoever asks next is told.
    this.#ready.catch(() => {});
    this.#worker.unref();
  }

  /** Seeds `random` and `os.urandom`. @throws ToolEnvError `infrastructure.python`. */
  async begin(seed: number): Promise<void> {
    try {
      await this.#ready;
      const { killed } = await this.#ask({ seed }, patience);
      if (killed) throw new Error(`it was killed (${killed})`);
    } catch (error) {
      throw pythonFault('Python did not start', error);
    }
  }

  /**
   * @param code Python. The value of a last expression is written too.
   * @throws ToolEnvError `infrastructure.python` if it was ended, or the process needs too much memory while several calls run.
   * @throws The reason of the signal when it aborts; the interpreter is gone then.
   */
  async run(code: string, signal?: AbortSignal): Promise<PythonResult> {
    const { timeout, output } = this.#limits;
    return this.#ask({ code, output }, timeout, signal);
  }

  /** Ends the thread. One that cannot be interrupted ends later, and nobody waits for it: its call has a result already. */
  async end(): Promise<void> {
    this.#closed = true;
    const waited = new AbortController();
    const late = sleep(dying, undefined, { signal: waited.signal }).catch(() => {});
    await Promise.race([this.#worker.terminate(), late]);
    waited.abort();
  }

  async #ask(request: object, within: number, signal?: AbortSignal): Promise<PythonResult> {
    signal?.throwIfAborted();
    // Nothing but a program ends the thread of an interpreter that runs, be it later.
    if (this.#worker.threadId === -1 && !this.#closed) return crash;
    this.#worker.ref();
    const stopped = new AbortController();
    const stop = (why: string) => stopped.abort(why);
    const onAbort = () => stop('aborted');
    const onExit = () => stop('ended');
    let timer: NodeJS.Timeout | undefined;
    let watcher: NodeJS.Timeout | undefined;
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#worker.once('exit', onExit);
    running += 1;
    try {
      await this.#ready;
      timer = setTimeout(stop, within, 'time');
      const before = process.memoryUsage.rss();
      watcher = setInterval(() => {
        // Memory that neither V8 nor the interpreter counts. It is this call's if no other runs. Several calls may need all that they
        // are allowed, in the interpreter and in JavaScript, and none of them is stopped for it.
        const grown = (process.memoryUsage.rss() - before) / 2 ** 20;
        const { memory } = this.#limits;
        if (running === 1 && grown > slack + memory) stop('memory');
        if (grown > slack + running * (memory + heapOf(memory))) stop('process memory');
      }, watch);
      this.#worker.postMessage(request);
      const [answer] = await once(this.#worker, 'message', { signal: stopped.signal });
      if (answer.broken !== true) return answer as PythonResult;
      await this.end();
      return crash;
    } catch (error) {
      const closed = this.#closed;
      await this.end();
      const why = stopped.signal.reason;
      if (why === 'aborted') throw signal?.reason;
      const outOfMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
      if (outOfMemory || why === 'memory') return { text: '', ok: false, truncated: true, killed: 'memory' };
      if (why === 'time') return { text: '', ok: false, truncated: true, killed: 'time' };
      if (why === 'process memory')
        throw pythonFault('This process needs too much memory, and several calls run', error);
      if (closed) throw pythonFault('The thread of Python was ended', error);
      return crash;
    } finally {
      running -= 1;
      clearTimeout(timer);
      clearInterval(watcher);
      signal?.removeEventListener('abort', onAbort);
      this.#worker.off('exit', onExit);
      this.#worker.unref();
    }
  }
}

const crash: PythonResult = { text: '', ok: false, truncated: true, killed: 'crash' };

function pythonFault(what: string, cause: unknown): ToolEnvError {
  const { message } = cause as Error;
  return new ToolEnvError('infrastructure.python', `${what}: ${message}`, { cause });
}
