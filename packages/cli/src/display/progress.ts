/** The progress bar on stderr: done of total, a line of numbers, the time left. */
import { type Params, SingleBar } from 'cli-progress';
import { unguardedStderr } from './guarded-output.ts';
import { timeText } from './number-text.ts';
import { safeLine } from './terminal-text.ts';

/** Columns of the bar itself, and of a bar in a narrow terminal. */
const barWidth = 16;
const narrowBar = 6;

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
      format: (_, params) => this.#line(label, params),
      stream: unguardedStderr,
      clearOnComplete: true,
      noTTYOutput: true,
      notTTYSchedule: 10_000,
      forceRedraw: true,
      // A signal lets the work end in order, and the work stops the bar.
      gracefulExit: false,
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

  #line(label: string, { value, total }: Params): string {
    const { isTTY, columns } = process.stderr;
    const room = isTTY ? (columns || 80) - 1 : Number.POSITIVE_INFINITY;
    return progressLine({ label, value, total, status: this.#status, left: this.#left(total) }, room);
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

interface Work {
  label: string;
  value: number;
  /** 0 while it is unknown. */
  total: number;
  /** Numbers, with two spaces between them. */
  status: string;
  left: string;
}

/** Keeps the time left in a narrow terminal: the bar becomes shorter, then the last numbers are left out. */
export function progressLine({ label, value, total, status, left }: Work, room: number): string {
  const numbers = safeLine(status).split('  ');
  const line = (width: number, count: number) =>
    [`${safeLine(label)} ${place(width)}`, ...numbers.slice(0, count), left].filter(Boolean).join('  ');
  const place = (width: number) => {
    // The total may become known later.
    if (total === 0) return `${value}`;
    const filled = Math.round((width * Math.min(value, total)) / total);
    return `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${value}/${total}`;
  };
  const shorter = [
    line(barWidth, numbers.length),
    ...numbers.map((_, dropped) => line(narrowBar, numbers.length - dropped)),
  ];
  return shorter.find((each) => each.length <= room) ?? line(narrowBar, 0);
}
