/** PlayerProcess: a Python in which verifiers loads an environment and plays any number of its episodes at once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { excerpt, messageOf, ToolEnvError } from '@toolenv/core';
import { untilAborted, withinDeadline } from '@toolenv/core/tools';

/** What the process is started for. */
export interface PlayerOptions {
  /** The command that starts a Python with verifiers. */
  python: string;
  /** The config of verifiers for each set of tasks. */
  configs: Readonly<Record<string, object>>;
  /** Most requests of an agent. */
  maxTurns: number;
  /** Milliseconds for the environment to load. */
  startTimeout: number;
}

/** What verifiers has loaded. */
export interface Loaded {
  version: string;
  /** The roles that have no model of their own, so that the policy plays them. */
  roles: readonly string[];
  /** Whether programs of these roles run code that their model writes, on this machine. */
  runsCodeHere: boolean;
}

/** What an episode came to. */
export interface Played {
  /** Whether verifiers has scored it. If not, `error` says why. */
  isScored: boolean;
  /** The weighted sum of the rewards. */
  reward: number | null;
  /** Rewards, without their weights, and metrics by name. */
  scores: Readonly<Record<string, number | null>>;
  /** The condition of verifiers that stopped it, such as `max_turns`. */
  stop: string | null;
  error: string | null;
}

interface Answer {
  id: number;
  task?: object;
  result?: unknown;
  error?: string;
}

interface Waiting {
  task?(task: object): void;
  resolve(result: unknown): void;
  reject(error: ToolEnvError): void;
}

const script = join(import.meta.dirname, '../python/player.py');
/** Milliseconds that the process has to end its programs and servers. */
const closeGrace = 15_000;
/** Characters of its standard error that an error may show. */
const tail = 1_000;

export class PlayerProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  /** Id 0 is that of the first answer, which no request asks for. */
  #requests = 0;
  #said = '';
  #lost: ToolEnvError | undefined;
  loaded!: Loaded;

  /**
   * @throws ToolEnvError `usage.verifiers` if verifiers cannot load the environment, `infrastructure.verifiers` if the process ends or is too slow.
   */
  static async start(options: PlayerOptions): Promise<PlayerProcess> {
    const player = new PlayerProcess(options);
    try {
      player.loaded = await withinDeadline(
        {
          after: options.startTimeout,
          reason: () => fault(`loaded nothing within ${options.startTimeout / 1000} s: raise startTimeout`),
        },
        () => player.#answer(0) as Promise<Loaded>,
      );
      return player;
    } catch (error) {
      await player.close();
      const said = ToolEnvError.isInstance(error) ? error.cause : undefined;
      if (!(said instanceof PlayerError)) throw error;
      throw new ToolEnvError('usage.verifiers', `verifiers cannot load the environment: ${said.message}`);
    }
  }

  private constructor({ python, configs, maxTurns }: PlayerOptions) {
    const given = JSON.stringify({ configs, max_turns: maxTurns });
    // Ctrl-C reaches every process of a terminal's group; this one ends when its input does.
    this.#child = spawn(python, [script, given], { detached: true, stdio: 'pipe' });
    const { stdin, stdout, stderr } = this.#child;
    // The end of the process tells of a broken pipe.
    stdin!.on('error', () => {});
    stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-tail);
    });
    createInterface({ input: stdout! }).on('line', (line) => this.#take(line));
    this.#child.once('error', (error) => this.#lose(`does not start (${messageOf(error)})`));
    this.#child.once('close', (code, signal) => {
      const said = this.#said.trim();
      this.#lose(`ended with ${signal ?? `exit code ${code}`}${said === '' ? '' : `: ${said}`}`);
    });
  }

  /** Why it can play no more; `undefined` while it can. */
  get lost(): ToolEnvError | undefined {
    return this.#lost;
  }

  /** The first tasks of a set, as verifiers loads them. */
  async *tasks(set: string, limit: number): AsyncGenerator<object> {
    const arrived: object[] = [];
    let wake = () => {};
    let isEnd = false;
    const end = this.#ask({ tasks: { split: set, limit } }, (task) => {
      arrived.push(task);
      wake();
    }).finally(() => {
      isEnd = true;
      wake();
    });
    // Thrown below, after the tasks before it.
    end.catch(() => {});
    for (;;) {
      while (arrived.length > 0) yield arrived.shift()!;
      if (isEnd) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    await end;
  }

  /** Plays an episode with the model at `url` and `key`. @throws The reason of `signal`, and `infrastructure.verifiers`. */
  async play(
    { set, task, url, key }: { set: string; task: object; url: string; key: string },
    signal: AbortSignal,
  ): Promise<Played> {
    const played = this.#ask({ play: { split: set, task, url, key } });
    const id = this.#requests;
    played.catch(() => {});
    const cancel = () => this.#send({ cancel: id });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return (await untilAborted(signal, () => played)) as Played;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Ends the process, and what it has started. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    child.stdin!.end();
    const killer = setTimeout(() => child.kill('SIGKILL'), closeGrace);
    await ended;
    clearTimeout(killer);
  }

  #ask(request: object, task?: (task: object) => void): Promise<unknown> {
    this.#requests += 1;
    const answer = this.#answer(this.#requests, task);
    if (!this.#lost) this.#send({ id: this.#requests, ...request });
    return answer;
  }

  #answer(id: number, task?: (task: object) => void): Promise<unknown> {
    if (this.#lost) return Promise.reject(this.#lost);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { ...(task && { task }), resolve, reject });
    });
  }

  #send(request: object): void {
    this.#child.stdin!.write(`${JSON.stringify(request)}\n`);
  }

  #take(line: string): void {
    let answer: Answer;
    try {
      answer = JSON.parse(line) as Answer;
    } catch {
      this.#lose(`answered with no JSON: ${excerpt(line)}`);
      return;
    }
    const waiting = this.#waiting.get(answer.id);
    // A task that was cancelled may have no one who waits.
    if (!waiting) return;
    if (answer.task) {
      waiting.task?.(answer.task);
      return;
    }
    this.#waiting.delete(answer.id);
    if (answer.error === undefined) waiting.resolve(answer.result);
    else waiting.reject(fault(`failed: ${answer.error}`, new PlayerError(answer.error)));
  }

  #lose(why: string): void {
    this.#lost ??= fault(why);
    this.close();
    for (const { reject } of this.#waiting.values()) reject(this.#lost);
    this.#waiting.clear();
  }
}

/** What Python has said of a request that it could not answer. */
class PlayerError extends Error {}

function fault(why: string, cause?: Error): ToolEnvError {
  return new ToolEnvError('infrastructure.verifiers', `The Python of verifiers ${why}`, { cause });
}
