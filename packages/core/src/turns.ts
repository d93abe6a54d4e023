/** Does one piece of work after the other, in the order they were asked for. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Work that fails leaves the next one its turn. */
  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
