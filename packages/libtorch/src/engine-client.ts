/** EngineClient: the engine in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ToolEnvError } from '@toolenv/core';
import type { Engine } from './engine.ts';

type Method = Exclude<keyof Engine, 'version'>;

export type Request =
  | { id: number; method: 'open'; given: ConstructorParameters<typeof Engine> }
  | { id: number; method: Method; given: readonly unknown[] };

export type Answer =
  | { id: number; result: unknown }
  | { id: number; error: { message: string; code: string | undefined } };

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Bytes of what the process wrote last, for errors. */
const maxLastWords = 2000;

export class EngineClient {
  readonly #child: ChildProcess;
  readonly #waiting: Map<number, Waiting> = new Map();
  #count = 0;
  #lastWords = '';
  /** Why no further request can be answered. */
  #ended: ToolEnvError | undefined;

  constructor(threads?: number) {
    const isSource = import.meta.url.endsWith('.ts');
    this.#child = fork(
      fileURLToPath(new URL(`./engine-process.${isSource ? 'ts' : 'js'}`, import.meta.url)),
      [],
      {
        execArgv: isSource ? ['--import', 'tsx', '--conditions=@toolenv/source'] : [],
        serialization: 'advanced',
        // OpenMP reads the variable when the library is loaded.
        env: { ...process.env, ...(threads !== undefined && { OMP_NUM_THREADS: String(threads) }) },
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      },
    );
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-maxLastWords);
    });
    (this.#child.stderr as unknown as { unref(): void }).unref();
    this.#child.on('message', (answer: Answer) => this.#take(answer));
    this.#child.on('error', ({ message }) => this.#end(message));
    this.#child.on('close', (code, signal) => this.#end(signal ?? `exit code ${code}`));
    this.#rest();
  }

  /**
   * Calls a method of the engine.
   * @throws ToolEnvError `infrastructure.libtorch` if the process has ended, and what the engine throws.
   */
  ask<Name extends Method>(
    method: Name,
    ...given: Parameters<Engine[Name]>
  ): Promise<ReturnType<Engine[Name]>> {
    return this.#ask({ id: ++this.#count, method, given }) as Promise<ReturnType<Engine[Name]>>;
  }

  /** Loads the library. @returns Its version. */
  open(...given: ConstructorParameters<typeof Engine>): Promise<string> {
    return this.#ask({ id: ++this.#count, method: 'open', given }) as Promise<string>;
  }

  async close(): Promise<void> {
    this.#ended ??= new ToolEnvError('infrastructure.libtorch', 'The engine is closed.');
    if (this.#child.connected) this.#child.disconnect();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.ref();
    await new Promise((done) => this.#child.once('exit', done));
  }

  #ask(request: Request): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      this.#child.ref();
      this.#child.channel?.ref();
      this.#child.send(request, (error) => error && this.#end(error.message));
    });
  }

  #take(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#rest();
    if ('result' in answer) waiting?.resolve(answer.result);
    else waiting?.reject(errorOf(answer.error));
  }

  /** Lets this process end while no answer is due. */
  #rest(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  #end(why: string): void {
    this.#ended ??= new ToolEnvError(
      'infrastructure.libtorch',
      `The process of libtorch has ended (${why}${this.#lastLine()}): ${remedyOf(why)}`,
    );
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }

  #lastLine(): string {
    const line = this.#lastWords.trim().split('\n').at(-1);
    return line ? `: ${line}` : '';
  }
}

function errorOf({ message, code }: { message: string; code: string | undefined }): Error {
  return code === undefined ? new Error(message) : new ToolEnvError(code as ToolEnvError['code'], message);
}

function remedyOf(why: string): string {
  return why === 'SIGKILL'
    ? 'most likely for lack of memory, so give a smaller token budget or model, and go on with --resume.'
    : 'run the same command again with --resume.';
}
