/** OpenEpisodes: the episodes that clients name by a handle. An episode that nobody plays for the idle timeout is ended. */
import type { EnvSession } from './env-session.ts';

interface Entry<Episode> {
  episode: Episode;
  /** Calls and clients that keep it from idling. */
  holds: number;
  lastPlayed: number;
  timer?: ReturnType<typeof setTimeout>;
}

interface Hooks<Episode> {
  /** Milliseconds. */
  idleTimeout: number;
  /** Ends an episode, and closes its Env. */
  end(episode: Episode): Promise<void>;
  onError(error: unknown): void;
}

export class OpenEpisodes<Episode extends { session: EnvSession }> {
  readonly #entries = new Map<string, Entry<Episode>>();
  readonly #hooks: Hooks<Episode>;
  #ending = 0;

  constructor(hooks: Hooks<Episode>) {
    this.#hooks = hooks;
  }

  /** Number of episodes, including episodes whose Env has not closed yet. */
  get size(): number {
    return this.#entries.size + this.#ending;
  }

  find(handle: string): Episode | undefined {
    return this.#entries.get(handle)?.episode;
  }

  add(episode: Episode): void {
    const entry = { episode, holds: 0, lastPlayed: performance.now() };
    this.#entries.set(episode.session.id, entry);
    this.#watch(entry);
  }

  /** Keeps an episode from idling until the returned function is called. */
  hold({ session }: Episode): () => void {
    const entry = this.#entries.get(session.id);
    if (!entry) return () => {};
    entry.holds += 1;
    clearTimeout(entry.timer);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      entry.holds -= 1;
      entry.lastPlayed = performance.now();
      if (entry.holds === 0 && this.#entries.get(session.id) === entry) this.#watch(entry);
    };
  }

  /** Its handle is unknown at once. Its place is free when its Env has closed. */
  async end({ session }: Episode): Promise<void> {
    const entry = this.#entries.get(session.id);
    if (!entry) return;
    this.#entries.delete(session.id);
    clearTimeout(entry.timer);
    this.#ending += 1;
    try {
      await this.#hooks.end(entry.episode);
    } catch (error) {
      this.#hooks.onError(error);
    } finally {
      this.#ending -= 1;
    }
  }

  /** Ends the episodes that nobody has played for some milliseconds. */
  endSilent(milliseconds: number): void {
    for (const { episode, holds, lastPlayed } of this.#entries.values())
      if (holds === 0 && performance.now() - lastPlayed > milliseconds) this.end(episode);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ episode }) => this.end(episode)));
  }

  #watch(entry: Entry<Episode>): void {
    entry.timer = setTimeout(() => this.end(entry.episode), this.#hooks.idleTimeout).unref();
  }
}
