/** ProgressReports: what a running call says of its progress, as callers receive it: well-formed, short, not too often, and not after its end. */
import { excerpt } from '../protocol/excerpt.ts';
import { redactSecrets } from '../protocol/secrets.ts';
import type { ToolProgress } from '../protocol/tool.ts';

/** Milliseconds between two reports. Of the reports in between, the newest is passed on. */
const interval = 50;
/** Characters of a message that are passed on. */
const maxMessageLength = 1000;
/** Characters of a message that are searched for secrets, before it is cut. */
const searched = 8 * maxMessageLength;

export class ProgressReports {
  readonly #pass: (report: ToolProgress) => void;
  #passed: number = Number.NEGATIVE_INFINITY;
  #newest: ToolProgress | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;

  /** @param pass Must not throw. */
  constructor(pass: (report: ToolProgress) => void) {
    this.#pass = pass;
  }

  /** What the tool calls. A report without a number as its progress is dropped. */
  readonly add = (given: ToolProgress): void => {
    const report = this.#ended ? undefined : read(given);
    if (!report) return;
    this.#newest = report;
    const wait = this.#passed + interval - performance.now();
    if (wait <= 0) this.#flush();
    else this.#timer ??= setTimeout(this.#flush, wait);
  };

  /** Passes on the newest report. Later reports are dropped. */
  end(): void {
    this.#flush();
    this.#ended = true;
  }

  readonly #flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const report = this.#newest;
    if (!report) return;
    this.#newest = undefined;
    this.#passed = performance.now();
    const { message, ...rest } = report;
    this.#pass(message === undefined ? rest : { ...rest, message: clean(message) });
  };
}

/** A copy, because the tool may use its object again. */
function read(given: ToolProgress): ToolProgress | undefined {
  try {
    const { progress, total, message } = given;
    if (!Number.isFinite(progress)) return undefined;
    return {
      progress,
      ...(Number.isFinite(total) && { total: total! }),
      ...(typeof message === 'string' && { message }),
    };
  } catch {
    return undefined;
  }
}

function clean(message: string): string {
  const kept = excerpt(redactSecrets(message.slice(0, searched)), maxMessageLength);
  // Copied, because a slice keeps the whole text in memory that it was cut from.
  return Buffer.from(kept, 'utf16le').toString('utf16le');
}
