/** Places: how many requests are answered at once, and how many wait. */

export class Places {
  readonly #most: number;
  readonly #queue: number;
  #taken = 0;
  /** In the order of their arrival. */
  readonly #waiting: Set<() => void> = new Set();

  constructor({ most, queue }: { most: number; queue: number }) {
    this.#most = most;
    this.#queue = queue;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether nothing may wait any more. */
  get isFull(): boolean {
    return this.#taken >= this.#most && this.#waiting.size >= this.#queue;
  }

  /**
   * Waits for a place, which {@link leave} gives back. Do not call it while {@link isFull}.
   * @throws The signal's reason, which frees the place in the queue.
   */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#most) {
      this.#taken += 1;
      return;
    }
    let call: () => void = () => {};
    await new Promise<void>((resolve) => {
      call = resolve;
      this.#waiting.add(call);
      signal.addEventListener('abort', call, { once: true });
    });
    signal.removeEventListener('abort', call);
    const wasCalled = !this.#waiting.delete(call);
    if (wasCalled && signal.aborted) this.leave();
    signal.throwIfAborted();
  }

  leave(): void {
    const [call] = this.#waiting;
    if (call) {
      this.#waiting.delete(call);
      call();
    } else this.#taken -= 1;
  }
}
