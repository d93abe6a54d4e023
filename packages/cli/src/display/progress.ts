/** The progress bar on stderr: done of total, a line of numbers, the time left. */
import { SingleBar } from 'cli-progress';
import { unguardedStderr } from './guarded-output.ts';
import { countText, timeText } from './number-text.ts';
import { safeLine } from './terminal-text.ts';

/** Columns of the bar itself, and of a bar in a narrow terminal. */
const barWidth = 16;
const narrowBar = 6;

/** Milliseconds before the bar of work that is mostly quick appears, and before its first line in a file or pipe. */
const lateness = 2000;
const latenessInLog = 10_000;

export interface ProgressOptions {
  /** Work that was done before the bar begins, such as the steps of a resumed run. Default 0. */
  first?: number;
  /** Whether the bar appears only after two seconds, and its first line after ten, because the work is mostly quick. Default false. */
  isLate?: boolean;
  /** Whether parts of the work take very different times, so that nothing says how much time is left. Default false. */
  isUneven?: boolean;
}

/**
 * A bar that redraws itself in a terminal, and writes a line every ten seconds where stderr is a file or pipe. It is
 * removed when it stops.
 */
export class Progress {
  readonly #bar: UnheldBar;
  readonly #label: string;
  readonly #first: number;
  readonly #isUneven: boolean;
  readonly #begun: number = performance.now();
  readonly #lateness: number = process.stderr.isTTY ? lateness : latenessInLog;
  #start: NodeJS.Timeout | undefined;
  #total: number;
  #done: number;
  #changed: number = this.#begun;
  /** When the first part was done, and how much: the time before it may be that of preparations. */
  #firstPart: { done: number; at: number } | undefined;
  #status = '';

  constructor(
    label: string,
    total: number,
    { first = 0, isLate = false, isUneven = false }: ProgressOptions = {},
  ) {
    this.#label = label;
    this.#first = first;
    this.#isUneven = isUneven;
    this.#total = total;
    this.#done = first;
    this.#bar = new UnheldBar({
      format: () => this.#line(),
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
    if (isLate) this.#start = setTimeout(this.#show, this.#lateness).unref();
    else this.#show();
  }

  total(total: number): void {
    this.#total = total;
    this.#bar.setTotal(total);
  }

  /** @param status Numbers to show next to the bar, those that matter least last. */
  update(done: number, status: string): void {
    if (done !== this.#done) {
      this.#changed = performance.now();
      this.#firstPart ??= { done, at: this.#changed };
    }
    this.#done = done;
    this.#status = status;
    // Work without pauses never lets the timer fire.
    if (this.#start && performance.now() - this.#begun > this.#lateness) this.#show();
    this.#bar.update(done);
  }

  readonly stop = (): void => {
    process.removeListener('exit', this.stop);
    clearTimeout(this.#start);
    this.#bar.stop();
  };

  readonly #show = (): void => {
    clearTimeout(this.#start);
    this.#start = undefined;
    this.#bar.start(this.#total, this.#done);
  };

  #line(): string {
    const { isTTY, columns } = process.stderr;
    const room = isTTY ? (columns || 80) - 1 : Number.POSITIVE_INFINITY;
    const work = { label: this.#label, value: this.#done, total: this.#total };
    return progressLine({ ...work, status: this.#status, left: this.#left() }, room);
  }

  /** The time left at the speed so far, counted down between updates. */
  #left(): string {
    const gained = this.#done - this.#first;
    if (this.#done >= this.#total || this.#isUneven) return '';
    if (gained === 0) return '–:–– left';
    const { done, at } = this.#firstPart!;
    const since = this.#done > done ? { done, at } : { done: this.#first, at: this.#begun };
    const each = (this.#changed - since.at) / (this.#done - since.done);
    const left = each * (this.#total - this.#done) - (performance.now() - this.#changed);
    return `${timeText(left / 1000)} left`;
  }
}

/** Its timer does not hold the process, and is no leak of the work that is checked meanwhile. */
class UnheldBar extends SingleBar {
  declare timer: NodeJS.Timeout | null;

  override render(): void {
    super.render();
    this.timer?.unref();
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

/** Keeps the time left in a narrow terminal: the bar becomes shorter, the last numbers are left out, and at last the bar too. */
export function progressLine({ label, value, total, status, left }: Work, room: number): string {
  const head = (width: number) => `${safeLine(label)} ${place(width)}`;
  const place = (width: number) => {
    // The total may become known later.
    if (total === 0) return countText(value);
    const filled = Math.round((width * Math.min(value, total)) / total);
    const bar = width === 0 ? '' : `${'█'.repeat(filled)}${'░'.repeat(width - filled)} `;
    return `${bar}${countText(value)}/${countText(total)}`;
  };
  const whole = [head(barWidth), safeLine(status), left].filter(Boolean).join('  ');
  if (whole.length <= room) return whole;
  const short = numbersThatFit(head(narrowBar), status, room, left);
  return short.length <= room ? short : [head(0), left].filter(Boolean).join('  ');
}

/**
 * A line with the numbers that fit it.
 * @param numbers With two spaces between them. The last ones are left out first.
 * @param end What the line ends with, whatever is left out.
 */
export function numbersThatFit(head: string, numbers: string, room: number, end = ''): string {
  const parts = safeLine(numbers).split('  ');
  const line = (count: number) => [head, ...parts.slice(0, count), end].filter(Boolean).join('  ');
  let count = parts.length;
  while (count > 0 && line(count).length > room) count -= 1;
  return line(count);
}

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
