/** PythonPool: an interpreter for each episode, and some that are kept ready. */
import { ToolEnvError } from '@toolenv/core';
import { openSnapshot, type PythonLimits, PythonThread, type Snapshot } from './python-thread.ts';

/** From which interpreters begin. Every pool of the process uses the same. */
let snapshot: Promise<Snapshot> | undefined;

function sharedSnapshot(memory: number): Promise<Snapshot> {
  if (!snapshot) {
    snapshot = openSnapshot(memory);
    snapshot.catch(() => {
      snapshot = undefined;
    });
  }
  return snapshot;
}

export class PythonPool {
  readonly #limits: PythonLimits;
  readonly #spare: number;
  readonly #ready: PythonThread[] = [];
  readonly #used: Map<string, Promise<PythonThread>> = new Map();
  #closed = false;

  /** @param spare Interpreters that are kept ready. */
  constructor(limits: PythonLimits, spare: number) {
    this.#limits = limits;
    this.#spare = spare;
  }

  /** Starts what is kept ready. */
  async fill(): Promise<void> {
    const snapshot = await sharedSnapshot(this.#limits.memory);
    while (!this.#closed && this.#ready.length < this.#spare)
      this.#ready.push(new PythonThread(this.#limits, snapshot));
  }

  /**
   * The interpreter of an episode. The first call gives it one whose `random` has the seed.
   * @throws ToolEnvError `infrastructure.python` if it does not start.
   */
  of(episodeId: string, seed: () => number): Promise<PythonThread> {
    let thread = this.#used.get(episodeId);
    if (!thread) {
      thread = this.#take(seed());
      thread.catch(() => this.#used.delete(episodeId));
      this.#used.set(episodeId, thread);
    }
    return thread;
  }

  /** Ends the interpreter of an episode, if it has one. A next call would give it another. */
  async release(episodeId: string): Promise<void> {
    const used = this.#used.get(episodeId);
    this.#used.delete(episodeId);
    const thread = await used?.catch(() => undefined);
    await thread?.end();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([
      ...[...this.#used.keys()].map((episodeId) => this.release(episodeId)),
      ...this.#ready.splice(0).map((thread) => thread.end()),
    ]);
  }

  async #take(seed: number): Promise<PythonThread> {
    const snapshot = await sharedSnapshot(this.#limits.memory);
    if (this.#closed) throw new ToolEnvError('infrastructure.python', 'The tool is closed: open it again.');
    const thread = this.#ready.shift() ?? new PythonThread(this.#limits, snapshot);
    await thread.begin(seed);
    // After the episode has begun, which must not wait for it.
    void this.fill();
    return thread;
  }
}
