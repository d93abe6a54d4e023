/** VllmProcess: a vLLM server of a run. It ends with this process, however that ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { asClause, ToolEnvError } from '@toolenv/core';
import { send } from '../server.ts';

/** Runs `vllm` until its input ends, which this process holds open. Its own processes are of its group. */
const program = `
import os, signal, sys, threading

def watch():
    # Not sys.stdin, whose lock a thread must not hold when Python ends.
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)

threading.Thread(target=watch, daemon=True).start()
from vllm.entrypoints.cli.main import main
sys.argv[0] = "vllm"
sys.exit(main())
`;

/** Milliseconds between SIGTERM and SIGKILL. */
const grace = 10_000;
/** Milliseconds that a server needs at most to end after its last failed answer, on a busy machine too. */
const mostEnding = 10_000;
/** Characters of the log, and of a line of it, in an error. */
const most = { words: 1500, line: 300 };

export interface VllmProcessOptions {
  /** A Python with vLLM. */
  python: string;
  /** Hugging Face folder. */
  model: string;
  /** Further arguments of `vllm serve`. */
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Asked of clients. */
  apiKey: string;
  /** File for its output. */
  log: string;
  /** Milliseconds in which it must answer. */
  timeout: number;
  signal?: AbortSignal | undefined;
}

export class VllmProcess {
  /** Without `/v1`. */
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #log: string;
  #end: string | undefined;
  #closing: Promise<void> | undefined;

  private constructor(url: string, child: ChildProcess, log: string) {
    this.url = url;
    this.#child = child;
    this.#log = log;
    child.on('error', ({ message }) => {
      this.#end ??= message;
    });
    child.on('exit', (code, signal) => {
      this.#end ??= signal ?? `exit code ${code}`;
      // Its engine may outlive it.
      killGroup(child, 'SIGKILL');
    });
  }

  /**
   * Starts a server on a free port of loopback.
   * @throws ToolEnvError `usage.vllm_start` with its last lines if it ends or does not answer in time; the reason of the signal.
   */
  static async start(options: VllmProcessOptions): Promise<VllmProcess> {
    const { python, model, args, env, apiKey, log, timeout, signal } = options;
    const port = await freePort();
    const output = openSync(log, 'a', 0o600);
    const address = ['--host', '127.0.0.1', '--port', String(port)];
    const child = spawn(python, ['-c', program, 'serve', model, ...address, ...args], {
      detached: true,
      stdio: ['pipe', output, output],
      env: { ...process.env, ...env, VLLM_API_KEY: apiKey, VLLM_NO_USAGE_STATS: '1' },
    });
    closeSync(output);
    child.stdin!.on('error', () => {});
    // A policy that nobody closes keeps no process alive.
    child.unref();
    (child.stdin as unknown as { unref(): void }).unref();
    const started = new VllmProcess(`http://127.0.0.1:${port}`, child, log);
    try {
      await started.#answers(timeout, signal);
      return started;
    } catch (error) {
      await started.close();
      throw error;
    }
  }

  async #answers(timeout: number, signal: AbortSignal | undefined): Promise<void> {
    for (const until = Date.now() + timeout; Date.now() < until; ) {
      signal?.throwIfAborted();
      if (this.#end !== undefined) throw this.#failed(`ended while it started (${this.#end})`);
      const asked = { headers: {}, timeout: 5000, signal };
      const reply = await send(`${this.url}/health`, asked).catch(() => undefined);
      if (reply?.status === 200) return;
      await sleep(100, undefined, { signal }).catch(() => {});
    }
    throw this.#failed(`does not answer after ${timeout / 1000} s`);
  }

  #failed(what: string): ToolEnvError {
    const remedy = 'correct what its log names, change --sampler-arguments, or raise --sampler-timeout';
    return new ToolEnvError('usage.vllm_start', `vLLM ${what}: ${remedy}. Its log ends:\n${this.#words()}`);
  }

  /** Why it has ended by itself, once it has; waits a moment for that. */
  async fault(): Promise<ToolEnvError | undefined> {
    const isEnding = () => this.#end === undefined && this.#closing === undefined;
    for (let waited = 0; isEnding() && waited < mostEnding; waited += 50) await sleep(50);
    if (this.#end === undefined || this.#closing) return undefined;
    const remedy =
      this.#end === 'SIGKILL' ? ', most likely for lack of memory. Give it less, and go on' : ': go on';
    const lines = this.#words().split('\n');
    const line = lines.findLast((each) => /(Error|Exception)\b/.test(each)) ?? lines.at(-1)!;
    const said = asClause(line.trim().slice(-most.line));
    const message = `vLLM has ended (${this.#end})${remedy} with --resume. Its log says: ${said}.`;
    return new ToolEnvError('infrastructure.vllm', message);
  }

  #words(): string {
    return readFileSync(this.#log, 'utf8').slice(-most.words).trim();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#end !== undefined) return;
    const gone = once(this.#child, 'exit');
    this.#child.ref();
    killGroup(this.#child, 'SIGTERM');
    const killer = setTimeout(() => killGroup(this.#child, 'SIGKILL'), grace);
    await gone;
    clearTimeout(killer);
  }
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // All of them have ended.
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
