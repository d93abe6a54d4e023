/** The progress bar on stderr: done of total, a line of numbers, the time left. */
import { type Options, type Params, SingleBar } from 'cli-progress';
import { unguardedStderr } from './guarded-output.ts';
import { timeText } from './number-text.ts';
import { safeLine } from './terminal-text.ts';

/** Columns of the bar itself: together with the numbers and the time left, a line stays within 100 columns. */
const barWidth = 16;

/**
 * A bar that redraws itself in a terminal, and writes a line every ten seconds where stderr is a file or pipe. It is
 * removed when it stops.
 */
export class Progress {
  readonly #bar: SingleBar;
  readonly #first: number;
  readonly #begun: number = performance.now();
  #done: number;
  #changed: number = this.#begun;
  #status = '';

  /** @param first Work that was done before the bar begins, such as the steps of a resumed run. */
  constructor(label: string, total: number, first = 0) {
    this.#first = first;
    this.#done = first;
    this.#bar = new SingleBar({
      format: (options, params) => this.#line(label, options, params),
      barsize: barWidth,
      stream: unguardedStderr,
      clearOnComplete: true,
      noTTYOutput: true,
      notTTYSchedule: 10_000,
      forceRedraw: true,
    });
    // The bar turns off the terminal's line wrapping, which must not outlive a process that quits at once.
    process.once('exit', this.stop);
    this.#bar.start(total, first);
  }

  total(total: number): void {
    this.#bar.setTotal(total);
  }

  /** @param status Numbers to show next to the bar. */
  update(done: number, status: string): void {
    if (done !== this.#done) this.#changed = performance.now();
    this.#done = done;
    this.#status = status;
    this.#bar.update(done);
  }

  readonly stop = (): void => {
    process.removeListener('exit', this.stop);
    this.#bar.stop();
  };

  #line(label: string, options: Options, { value, total }: Params): string {
    const filled = Math.round((barWidth * Math.min(value, total)) / Math.max(total, 1));
    const bar = '█'.repeat(filled) + '░'.repeat((options.barsize ?? barWidth) - filled);
    // The total may become known later.
    const place = total > 0 ? `${bar} ${value}/${total}` : `${value}`;
    return [`${safeLine(label)} ${place}`, safeLine(this.#status), this.#left(total)]
      .filter(Boolean)
      .join('  ');
  }

  /** The time left at the speed so far, counted down between updates. */
  #left(total: number): string {
    const gained = this.#done - this.#first;
    if (gained === 0 || this.#done >= total) return '';
    const each = (this.#changed - this.#begun) / gained;
    const left = each * (total - this.#done) - (performance.now() - this.#changed);
    return `${timeText(left / 1000)} left`;
  }
}
