/** BusyClock: the wall-clock time in which at least one of many calls was in progress. */

export class BusyClock {
  #seconds = 0;
  #running = 0;
  #since = 0;

  /** Seconds, without the calls that are still in progress. */
  get seconds(): number {
    return this.#seconds;
  }

  async time<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#running++ === 0) this.#since = performance.now();
    try {
      return await call();
    } finally {
      if (--this.#running === 0) this.#seconds += (performance.now() - this.#since) / 1000;
    }
  }

  /** The seconds since the last call of this method. */
  take(): number {
    const seconds = this.#seconds;
    this.#seconds = 0;
    return seconds;
  }
}
