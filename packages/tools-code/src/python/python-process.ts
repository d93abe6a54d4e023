/** PythonProcess: an interpreter in a process. The only way to stop it is to kill the process: Python can catch everything else, and V8 interrupts no built-in function. */
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { parse } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { ToolEnvError } from '@toolenv/core';
import { frame, readFrames } from './frames.js';
import { head, readSnapshot, saveSnapshot, snapshotFile } from './saved-snapshot.ts';

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

const program = fileURLToPath(new URL('./interpreter-process.js', import.meta.url));

/** In which nothing of the user is, and where no dump of a process that V8 aborts can be written. */
const folder = existsSync('/proc/self') ? '/proc' : parse(program).root;

/** Milliseconds in which an interpreter must begin on a busy machine. */
const patience = 120_000;

/** Bytes of a snapshot. */
const maxSnapshot = 2 ** 30;

/** V8 ends the process by these if memory runs out in a built-in function. */
const outOfMemory: readonly (string | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL'];

/**
 * Finds the snapshot that another process has saved, or makes it, in some seconds of CPU.
 * @param memory MiB of the interpreters.
 * @returns What an interpreter is told first: where the file is, or the memory itself if none can be written.
 * @throws ToolEnvError `infrastructure.python`.
 */
export async function openSnapshot(memory: number): Promise<Uint8Array> {
  try {
    const file = await snapshotFile();
    const saved = Buffer.from(JSON.stringify({ path: file.path, offset: head }));
    if (await readSnapshot(file)) return saved;
    const maker = new Channel(memory, maxSnapshot);
    try {
      const made = answered(await maker.ask(new Uint8Array(), patience));
      await saveSnapshot(file, made);
      return (await readSnapshot(file)) ? saved : made;
    } finally {
      await maker.end();
    }
  } catch (error) {
    throw pythonFault('Python did not start', error);
  }
}

/** Why there is no answer. */
type Silence = 'time' | 'aborted' | 'ended';

/** @throws For a silence. */
function answered(answer: Buffer | Silence): Buffer {
  if (typeof answer !== 'string') return answer;
  throw new Error(answer === 'ended' ? 'its process ended' : 'its process did not begin in time');
}

/** The process and its pipes. What comes from it may be made by a program: it is bounded, and a word out of turn ends the process. */
class Channel {
  readonly #child: ChildProcess;
  /** Emits `answer`, and `ended` when the process is gone and all that it said was read. */
  readonly #events: EventEmitter = new EventEmitter();
  hasEnded = false;

  /** @param most Bytes of an answer. */
  constructor(memory: number, most: number, file: string = program) {
    // Nothing of this process's environment. The zone decides what is in a snapshot.
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    this.#child = spawn(process.execPath, [file, String(memory)], {
      cwd: folder,
      env: { TZ: timeZone },
      stdio: ['pipe', 'pipe', 'ignore'],
      // A signal of the terminal is for this process, which may want to end its calls first.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    const onEnd = () => {
      this.hasEnded = true;
      this.#events.emit('ended');
    };
    this.#child.once('error', onEnd).once('close', onEnd);
    // A machine without files for pipes gives none.
    const { stdin, stdout } = this.#child as { stdin?: Writable; stdout?: Readable };
    stdin?.on('error', () => {});
    const kill = () => this.#child.kill('SIGKILL');
    if (stdout) readFrames(stdout, most, (bytes) => this.#events.emit('answer', bytes) || kill(), kill);
  }

  /** The signal that has ended the process. */
  get endedBy(): NodeJS.Signals | null {
    return this.#child.signalCode;
  }

  async ask(request: Uint8Array, within: number, signal?: AbortSignal): Promise<Buffer | Silence> {
    if (this.hasEnded) return 'ended';
    const stopped = new AbortController();
    const stop = (why: Silence) => stopped.abort(why);
    const onAbort = () => stop('aborted');
    const onEnd = () => stop('ended');
    const timer = setTimeout(stop, within, 'time').unref();
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#events.once('ended', onEnd);
    try {
      if (signal?.aborted) stop('aborted');
      const answer = once(this.#events, 'answer', { signal: stopped.signal });
      this.#child.stdin!.write(frame(request));
      return (await answer)[0];
    } catch {
      return stopped.signal.reason;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.#events.off('ended', onEnd);
    }
  }

  async end(): Promise<void> {
    if (this.hasEnded) return;
    const ended = once(this.#events, 'ended');
    this.hold('ref');
    this.#child.kill('SIGKILL');
    await ended;
  }

  /** Whether this process lives on for it. */
  hold(how: 'ref' | 'unref'): void {
    const { stdin, stdout } = this.#child as unknown as { stdin?: Socket; stdout?: Socket };
    for (const held of [this.#child, stdin, stdout]) held?.[how]();
  }
}

export class PythonProcess {
  readonly #channel: Channel;
  readonly #limits: PythonLimits;
  readonly #ready: Promise<Buffer | Silence>;
  /** Whether it was ended from here. */
  #closed = false;

  /** @param file Program of the process, for tests. */
  constructor(limits: PythonLimits, snapshot: Uint8Array, file?: string) {
    this.#limits = limits;
    // A byte of text needs at most six in JSON.
    this.#channel = new Channel(limits.memory, 6 * limits.output + 100, file);
    this.#ready = this.#channel.ask(snapshot, patience);
    this.#channel.hold('unref');
  }

  /** Seeds `random` and `os.urandom`. @throws ToolEnvError `infrastructure.python`. */
  async begin(seed: number): Promise<void> {
    try {
      this.#channel.hold('ref');
      answered(await this.#ready);
      const { killed } = await this.#ask({ seed }, patience);
      if (killed) throw new Error(`it was killed (${killed})`);
    } catch (error) {
      await this.end();
      throw pythonFault('Python did not start', error);
    }
  }

  /**
   * One call at a time.
   * @param code Python. The value of a last expression is written too.
   * @throws ToolEnvError `infrastructure.python` if it was ended.
   * @throws The reason of the signal when it aborts; the interpreter is gone then.
   */
  async run(code: string, signal?: AbortSignal): Promise<PythonResult> {
    const { timeout, output } = this.#limits;
    return this.#ask({ code, output }, timeout, signal);
  }

  async end(): Promise<void> {
    this.#closed = true;
    await this.#channel.end();
  }

  async #ask(request: object, within: number, signal?: AbortSignal): Promise<PythonResult> {
    signal?.throwIfAborted();
    this.#channel.hold('ref');
    const answer = await this.#channel.ask(Buffer.from(JSON.stringify(request)), within, signal);
    this.#channel.hold('unref');
    const result = typeof answer === 'string' ? this.#silent(answer) : resultOf(answer, this.#limits.output);
    if (result.killed) await this.#channel.end();
    if (answer === 'aborted') throw signal?.reason;
    if (answer === 'ended' && this.#closed)
      throw new ToolEnvError('infrastructure.python', 'The process of Python was ended.');
    return result;
  }

  /** Nothing but a program ends the process of an interpreter that has begun. */
  #silent(why: Silence): PythonResult {
    const memory = why === 'ended' && outOfMemory.includes(this.#channel.endedBy);
    return stoppedBy(why !== 'ended' ? 'time' : memory ? 'memory' : 'crash');
  }
}

/** What the process answered, if it is what an interpreter can answer. */
function resultOf(bytes: Buffer, output: number): PythonResult {
  try {
    const { text, ok, truncated, killed } = JSON.parse(bytes.toString());
    if (killed === 'memory') return stoppedBy('memory');
    // A character that is cut may be read as two units.
    if (typeof text !== 'string' || text.length > output + 1) return stoppedBy('crash');
    return { text, ok: ok === true, truncated: truncated === true };
  } catch {
    return stoppedBy('crash');
  }
}

function stoppedBy(killed: 'time' | 'memory' | 'crash'): PythonResult {
  return { text: '', ok: false, truncated: true, killed };
}

function pythonFault(what: string, cause: unknown): ToolEnvError {
  const { message } = cause as Error;
  return new ToolEnvError('infrastructure.python', `${what}: ${message}`, { cause });
}
