/** Player: the process that plays for an environment, and after its end another. */
import { type Loaded, type PlayerOptions, PlayerProcess } from './player-process.ts';

export class Player {
  readonly loaded: Loaded;
  readonly #options: PlayerOptions;
  #current: Promise<PlayerProcess>;

  /** @throws As {@link PlayerProcess.start} does. */
  static async open(options: PlayerOptions): Promise<Player> {
    return new Player(options, await PlayerProcess.start(options));
  }

  private constructor(options: PlayerOptions, first: PlayerProcess) {
    this.#options = options;
    this.#current = Promise.resolve(first);
    this.loaded = first.loaded;
  }

  /** A process that lives. @throws As {@link PlayerProcess.start} does. */
  async process(): Promise<PlayerProcess> {
    const current = this.#current;
    const living = await current.catch(() => undefined);
    if (living && !living.lost) return living;
    // Whoever comes first starts it.
    if (this.#current === current) this.#current = PlayerProcess.start(this.#options);
    return this.#current;
  }

  async close(): Promise<void> {
    const current = await this.#current.catch(() => undefined);
    await current?.close();
  }
}
