/** ShellThread: a thread with a virtual shell. It answers one request at a time, and is ended if an answer takes too long. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ToolEnvError } from '@toolenv/core';
import { sandboxFault } from '../sandbox-errors.ts';

/** What the thread answers; `changes` says what became of the files. */
export type ThreadAnswer = { changes: FileChanges } & Record<string, unknown>;

/**
 * Why a thread has ended before it could answer: no answer came in time, it needed too much memory, or the shell itself
 * threw an exception.
 */
export type ThreadEnd = 'late' | 'memory' | 'crash';

export class ShellThread {
  readonly #worker: Worker;
  readonly #ready: Promise<unknown>;
  /** Whether it was ended from here. */
  #closed = false;

  /** @param memory MiB. */
  constructor(settings: { memory: number; disk: number; home: string; files: readonly KeptEntry[] }) {
    // Without the flags and the environment of this process.
    this.#worker = new Worker(new URL('./virtual-thread.js', import.meta.url), {
      execArgv: [],
      env: {},
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: settings.memory, maxYoungGenerationSizeMb: 16 },
      stdin: false,
      stdout: true,
      stderr: true,
    });
    this.#ready = once(this.#worker, 'message');
    // Whoever asks next is told.
    this.#ready.catch(() => {});
    this.#worker.on('error', () => {});
    this.#worker.unref();
  }

  /** @throws ToolEnvError `infrastructure.sandbox` if the thread does not begin. */
  async ready(): Promise<void> {
    try {
      this.#worker.ref();
      await this.#ready;
    } catch (error) {
      throw sandboxFault(`The thread of a virtual sandbox did not start: ${(error as Error).message}`, error);
    } finally {
      this.#worker.unref();
    }
  }

  /**
   * @param within Milliseconds.
   * @throws ToolEnvError `infrastructure.sandbox` if the thread was ended from outside, or could not load a command.
   * @throws The reason of the signal when it aborts; the thread has ended then.
   */
  async ask(
    request: Record<string, unknown>,
    { within, signal }: { within: number; signal?: AbortSignal | undefined },
  ): Promise<ThreadAnswer | ThreadEnd> {
    await this.ready();
    if (this.#worker.threadId === -1) {
      if (this.#closed) throw sandboxFault('The thread of a virtual sandbox has ended.');
      // What a command has left behind, such as a task that goes on after its time, threw between two requests.
      return 'crash';
    }
    this.#worker.ref();
    const done = new AbortController();
    const stop = (why: unknown) => done.abort(why);
    const timer = setTimeout(stop, within, 'late');
    const onAbort = () => stop('aborted');
    const onExit = () => stop('ended');
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#worker.once('exit', onExit);
    try {
      if (signal?.aborted) stop('aborted');
      this.#worker.postMessage(request);
      const [answer] = await once(this.#worker, 'message', { signal: done.signal });
      if (answer.machineFault === undefined) return answer as ThreadAnswer;
      throw sandboxFault(`The virtual shell could not load a command: ${answer.machineFault}`);
    } catch (error) {
      const closed = this.#closed;
      await this.end();
      if (ToolEnvError.isInstance(error)) throw error;
      // A thread that throws also exits, so the signal may have aborted after this error: only an abort carries its reason.
      const reason = (error as Error).name === 'AbortError' ? (error as Error).cause : undefined;
      if (reason === 'late') return 'late';
      if (reason === 'aborted') throw signal?.reason;
      if (reason === 'ended' && closed) throw sandboxFault('The thread of a virtual sandbox ended.');
      return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash';
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.#worker.off('exit', onExit);
      this.#worker.unref();
    }
  }

  async end(): Promise<void> {
    this.#closed = true;
    await this.#worker.terminate();
  }
}

/** An entry as the thread reports it. */
export interface KeptEntry {
  path: string;
  type: 'file' | 'folder' | 'link';
  mode: number;
  content?: Uint8Array;
  target?: string;
}

/** What a request changed: the paths, all below them included, and what is there now. */
interface FileChanges {
  paths: readonly string[];
  entries: readonly KeptEntry[];
}

/** A copy of the files of a thread, from which a new thread can begin. */
export class KeptFiles {
  readonly #entries: Map<string, KeptEntry> = new Map();

  apply({ paths, entries }: FileChanges): void {
    for (const path of paths) {
      this.#entries.delete(path);
      const below = path === '/' ? path : `${path}/`;
      for (const kept of this.#entries.keys()) if (kept.startsWith(below)) this.#entries.delete(kept);
    }
    for (const entry of entries) this.#entries.set(entry.path, entry);
  }

  /** Outermost first. */
  all(): KeptEntry[] {
    return [...this.#entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}
