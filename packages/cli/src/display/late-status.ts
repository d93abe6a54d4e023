/** What a command is doing, on one line of a terminal that appears when the work takes a while. */
import { SingleBar } from 'cli-progress';
import { unguardedStderr } from './guarded-output.ts';
import { safeLine } from './terminal-text.ts';

/** Milliseconds before the line appears: quick work needs none. */
const delay = 2000;

/** Shows nothing where stderr is not a terminal. */
export class LateStatus {
  readonly #begun: number = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #bar: SingleBar | undefined;
  #text = '';

  constructor() {
    if (!process.stderr.isTTY) return;
    this.#timer = setTimeout(() => this.#draw(), delay).unref();
    // The bar turns off the terminal's line wrapping, which must not outlive a process that quits at once.
    process.once('exit', this.stop);
  }

  show(text: string): void {
    this.#text = text;
    this.#draw();
  }

  /** Removes the line until there is something else to show. */
  readonly clear = (): void => {
    this.#text = '';
    this.#bar?.stop();
    this.#bar = undefined;
  };

  readonly stop = (): void => {
    clearTimeout(this.#timer);
    process.removeListener('exit', this.stop);
    this.clear();
  };

  #draw(): void {
    // Work without pauses never lets the timer fire, so the time is looked at here too.
    if (this.#text === '' || !process.stderr.isTTY || performance.now() - this.#begun < delay) return;
    if (!this.#bar) {
      this.#bar = new SingleBar({
        format: () => safeLine(this.#text),
        stream: unguardedStderr,
        clearOnComplete: true,
        forceRedraw: true,
        gracefulExit: false,
      });
      this.#bar.start(1, 0);
    }
    this.#bar.update(0);
  }
}
