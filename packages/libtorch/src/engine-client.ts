/** EngineClient: the engine in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ToolEnvError } from '@toolenv/core';
import type { Engine } from './engine.ts';
import { stampOfCode } from './engine-code.ts';
import { hangs } from './hung-process.ts';
import { libraryIn, unusable } from './library-file.ts';
import { reuseMemory } from './reuse-memory.ts';

type Method = Exclude<keyof Engine, 'version' | 'attempt'>;

export type Request =
  | { id: number; method: 'open'; given: ConstructorParameters<typeof Engine> }
  | { id: number; method: Method; given: readonly unknown[] };

/** `isWorn`: an update has ended after the lifetime of the process. */
export type Answer = { id: number; isWorn: boolean } & (
  | { result: unknown }
  | { error: { message: string; code: string | undefined } }
);

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Bytes of what the process wrote last, for errors. */
const maxLastWords = 2000;
/** Milliseconds without CPU time after which a process that owes an answer is hung, once the run is to end. */
const patience = 5_000;
/** Milliseconds that a process may take to end. It has nothing to save. */
const grace = 1_000;

/** Processes to kill if this process exits without closing them. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface EngineOptions {
  /** Threads that compute one operation. Default: OpenMP's choice, which is one per core. */
  threads?: number | undefined;
  /**
   * Once it aborts, an engine that owes an answer and uses no CPU time is killed, and its calls reject with the reason. Without it, only the
   * end of this process ends such an engine.
   */
  signal?: AbortSignal | undefined;
  /** Milliseconds without work after which the memory of freed tensors goes back to the system, where that is Linux with glibc. Default: 60,000. */
  rest?: number | undefined;
  /**
   * Milliseconds after which, at the end of an update of the optimizer, another process takes the tensors over, where that is Linux. Default:
   * 1,800,000. After an hour, memory is so full of gaps that the search for room takes a tenth to a third of the time.
   */
  lifetime?: number | undefined;
}

export class EngineClient {
  readonly #options: EngineOptions;
  #child: ChildProcess;
  readonly #waiting: Map<number, Waiting> = new Map();
  #count = 0;
  #lastWords = '';
  #opened: ConstructorParameters<typeof Engine> | undefined;
  /** The library that is being loaded. */
  #opening: string | undefined;
  #mayRenew = true;
  readonly #code: string = stampOfCode();
  /** Another process takes the tensors over. Requests wait for it. */
  #renewing: Promise<void> | undefined;
  /** Why no further request can be answered. */
  #ended: unknown;

  constructor(options: EngineOptions = {}) {
    this.#options = options;
    this.#child = this.#start();
    this.#rest();
  }

  #start(): ChildProcess {
    const { threads, signal, rest = 60_000, lifetime = 1_800_000 } = this.#options;
    const isSource = import.meta.url.endsWith('.ts');
    const child = fork(
      fileURLToPath(new URL(`./engine-process.${isSource ? 'ts' : 'js'}`, import.meta.url)),
      [String(rest), String(lifetime), process.env.GLIBC_TUNABLES ? 'own settings' : ''],
      {
        execArgv: isSource ? ['--import', 'tsx', '--conditions=@toolenv/source'] : [],
        serialization: 'advanced',
        env: {
          ...process.env,
          ...reuseMemory(process.env),
          // OpenMP reads the variable when the library is loaded.
          ...(threads !== undefined && { OMP_NUM_THREADS: String(threads) }),
        },
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      },
    );
    running.add(child);
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-maxLastWords);
    });
    (child.stderr as unknown as { unref(): void }).unref();
    child.on('message', (answer: Answer) => this.#take(answer));
    child.on('error', ({ message }) => this.#endSoon(child, message));
    child.on('close', (code, name) => {
      signal?.removeEventListener('abort', killIfHung);
      this.#end(child, name ?? `exit code ${code}`);
    });
    const killIfHung = () => void this.#killIfHung(signal!.reason);
    signal?.addEventListener('abort', killIfHung);
    return child;
  }

  /**
   * Calls a method of the engine.
   * @throws ToolEnvError `infrastructure.libtorch` if the process has ended, `infrastructure.out_of_memory` if the engine lacks memory for the
   *   call, and what the engine throws.
   */
  ask<Name extends Method>(
    method: Name,
    ...given: Parameters<Engine[Name]>
  ): Promise<ReturnType<Engine[Name]>> {
    return this.#ask({ id: ++this.#count, method, given }) as Promise<ReturnType<Engine[Name]>>;
  }

  /** Loads the library. @returns Its version. @throws ToolEnvError `usage.libtorch`. */
  async open(...given: ConstructorParameters<typeof Engine>): Promise<string> {
    this.#opened = given;
    this.#opening = libraryIn(given[0]);
    const version = await this.#send({ id: ++this.#count, method: 'open', given });
    this.#opening = undefined;
    return version as string;
  }

  async close(): Promise<void> {
    this.#ended ??= new ToolEnvError('infrastructure.libtorch', 'The engine is closed.');
    await this.#endChild();
    // A renewal may wait for an answer.
    this.#end(this.#child, 'it is closed');
    await this.#renewing;
  }

  async #endChild(): Promise<void> {
    const child = this.#child;
    const hasEnded = child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
    if (hasEnded) return;
    child.ref();
    const exit = once(child, 'exit');
    if (child.connected) child.disconnect();
    // A process that computes or is stopped does not notice that the channel is closed.
    const late = setTimeout(() => child.kill('SIGKILL'), this.#waiting.size > 0 ? 0 : grace);
    await exit;
    clearTimeout(late);
  }

  #ask(request: Request): Promise<unknown> {
    return this.#renewing ? this.#renewing.then(() => this.#ask(request)) : this.#send(request);
  }

  #send(request: Request): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      this.#child.ref();
      this.#child.channel?.ref();
      const child = this.#child;
      child.send(request, (error) => error && this.#endSoon(child, error.message));
    });
  }

  #take(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#rest();
    if (answer.isWorn && this.#waiting.size === 0 && this.#mayRenew && !this.#renewing && !this.#ended) {
      this.#renewing = this.#renew().finally(() => {
        this.#renewing = undefined;
      });
    }
    if ('result' in answer) waiting?.resolve(answer.result);
    else waiting?.reject(errorOf(answer.error));
  }

  /**
   * Another process takes over programs and tensors, through a file. If there is no room for the file, or if the other process would have other
   * code, the engine stays as it is. If the other process does not start, the engine has ended.
   */
  async #renew(): Promise<void> {
    const file = join(tmpdir(), `toolenv-engine-${randomUUID()}`);
    const request = (method: Request['method'], given: readonly unknown[]) =>
      this.#send({ id: ++this.#count, method, given } as Request);
    try {
      this.#mayRenew =
        stampOfCode() === this.#code &&
        (await request('save', [file]).then(
          () => true,
          () => false,
        ));
      if (!this.#mayRenew || this.#ended) return;
      const worn = this.#child;
      this.#child = this.#start();
      // The memory may not hold all tensors twice.
      const end = once(worn, 'exit');
      worn.kill('SIGKILL');
      await end;
      await request('open', this.#opened!);
      await request('restore', [file]);
    } catch (error) {
      this.#ended ??= error;
    } finally {
      await rm(file, { force: true });
    }
  }

  /** Lets this process end while no answer is due. */
  #rest(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  async #killIfHung(reason: unknown): Promise<void> {
    const owes = () => this.#waiting.size > 0;
    const isOver = () => this.#ended !== undefined;
    if (!(await hangs(this.#child.pid!, { patience, owes, isOver }))) return;
    process.emitWarning(
      `The process of libtorch owes an answer and has used no CPU time for ${patience / 1000} s: it is killed, and its step is lost.`,
      'HungEngine',
    );
    this.#ended = reason;
    this.#child.kill('SIGKILL');
  }

  /** The end of the process says more than a message that could not be sent to it. */
  #endSoon(child: ChildProcess, why: string): void {
    setTimeout(() => this.#end(child, why), grace);
  }

  #end(child: ChildProcess, why: string): void {
    running.delete(child);
    if (child !== this.#child) return;
    this.#ended ??= this.#errorOfEnd(why);
    for (const { reject } of this.#waiting.values()) reject(this.#ended as Error);
    this.#waiting.clear();
  }

  #errorOfEnd(why: string): ToolEnvError {
    const words = lastLine(this.#lastWords);
    const how = words ? `${why}: ${words}` : why;
    const lacksMemory = why === 'SIGKILL' || /out of memory/.test(words);
    if (this.#opening !== undefined && !lacksMemory)
      return unusable(this.#opening, `its library ends the process that loads it, with ${how}`);
    const remedy = lacksMemory
      ? 'most likely for lack of memory, so give a smaller token budget or model, and go on with --resume.'
      : 'run the same command again with --resume.';
    return new ToolEnvError(
      'infrastructure.libtorch',
      `The process of libtorch has ended (${how}): ${remedy}`,
    );
  }
}

/** The last line, or before it the line that names an error: V8 prints its stack below. */
function lastLine(text: string): string {
  const lines = text.trim().split('\n');
  return (lines.findLast((line) => /\b(FATAL ERROR|Error|what\(\)):/.test(line)) ?? lines.at(-1)!).trim();
}

function errorOf({ message, code }: { message: string; code: string | undefined }): Error {
  return code === undefined ? new Error(message) : new ToolEnvError(code as ToolEnvError['code'], message);
}
