/** Serial: runs the calls of a sandbox one after another, and none after it was closed. */
import { sandboxFault } from './sandbox-errors.ts';

export class Serial {
  #previous: Promise<unknown> = Promise.resolve();
  /** Why nothing runs any more. */
  #ended: unknown;

  /** @throws Whatever `end` was given. */
  run<Result>(call: () => Promise<Result>): Promise<Result> {
    const result = this.#previous.then(() => {
      if (this.#ended) throw this.#ended;
      return call();
    });
    this.#previous = result.catch(() => {});
    return result;
  }

  /** Lets no further call run. */
  end(reason: unknown = sandboxFault('The sandbox is closed: open another.')): void {
    this.#ended ??= reason;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }
}
