/** PythonPool: an interpreter for each episode, and some that are kept ready. */
import { ToolEnvError } from '@toolenv/core';
import { openSnapshot, type PythonLimits, PythonProcess, type PythonResult } from './python-process.ts';

/** From which interpreters begin. Every pool of the process uses the same. */
let snapshot: Promise<Uint8Array> | undefined;

function sharedSnapshot(memory: number): Promise<Uint8Array> {
  if (!snapshot) {
    snapshot = openSnapshot(memory);
    snapshot.catch(() => {
      snapshot = undefined;
    });
  }
  return snapshot;
}

interface Episode {
  interpreter?: Promise<PythonProcess> | undefined;
  /** Settles with the last call: an interpreter runs one at a time. */
  last: Promise<unknown>;
}

export class PythonPool {
  readonly #limits: PythonLimits;
  readonly #spare: number;
  readonly #ready: PythonProcess[] = [];
  readonly #episodes: Map<string, Episode> = new Map();
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
      this.#ready.push(new PythonProcess(this.#limits, snapshot));
  }

  /**
   * Runs code in the interpreter of an episode. A first call, and one after a result that is `killed`, begins one whose `random` has the seed.
   * @throws ToolEnvError `infrastructure.python` if it does not start or was ended from here.
   * @throws The reason of the signal when it aborts.
   */
  run(episodeId: string, code: string, seed: () => number, signal?: AbortSignal): Promise<PythonResult> {
    const episode = this.#episodes.get(episodeId) ?? { last: Promise.resolve() };
    this.#episodes.set(episodeId, episode);
    const result = episode.last.then(() => this.#runIn(episode, episodeId, code, seed, signal));
    episode.last = result.catch(() => {});
    return result;
  }

  /** Ends the interpreter of an episode, if it has one. A next call would give it another. */
  async release(episodeId: string): Promise<void> {
    const episode = this.#episodes.get(episodeId);
    this.#episodes.delete(episodeId);
    const interpreter = await episode?.interpreter?.catch(() => undefined);
    await interpreter?.end();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([
      ...[...this.#episodes.keys()].map((episodeId) => this.release(episodeId)),
      ...this.#ready.splice(0).map((interpreter) => interpreter.end()),
    ]);
  }

  async #runIn(
    episode: Episode,
    episodeId: string,
    code: string,
    seed: () => number,
    signal?: AbortSignal,
  ): Promise<PythonResult> {
    signal?.throwIfAborted();
    if (this.#episodes.get(episodeId) !== episode)
      throw new ToolEnvError('infrastructure.python', 'The episode has ended.');
    let interpreter: PythonProcess | undefined;
    try {
      episode.interpreter ??= this.#take(seed());
      interpreter = await episode.interpreter;
      const result = await interpreter.run(code, signal);
      if (result.killed) episode.interpreter = undefined;
      return result;
    } catch (error) {
      episode.interpreter = undefined;
      await interpreter?.end();
      throw error;
    }
  }

  async #take(seed: number): Promise<PythonProcess> {
    const used = sharedSnapshot(this.#limits.memory);
    const interpreter = await this.#begun(seed).catch(() => {
      // The file of the snapshot may be gone: it is looked for again.
      if (snapshot === used) snapshot = undefined;
      return this.#begun(seed);
    });
    // After the episode has begun, which must not wait for it.
    this.fill().catch(() => {});
    return interpreter;
  }

  async #begun(seed: number): Promise<PythonProcess> {
    const snapshot = await sharedSnapshot(this.#limits.memory);
    if (this.#closed) throw new ToolEnvError('infrastructure.python', 'The tool is closed: open it again.');
    const interpreter = this.#ready.shift() ?? new PythonProcess(this.#limits, snapshot);
    await interpreter.begin(seed);
    return interpreter;
  }
}
