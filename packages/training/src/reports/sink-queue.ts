/** SinkQueue: what a sink has not taken yet. It keeps a slow or broken sink away from the run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { redactSecrets } from '@toolenv/core/secrets';
import type { MetricSink, ReportedMetrics, ReportedRun, RunEnd } from './metric-sink.ts';

/** Milliseconds. */
export interface SinkTimes {
  /** Of one call of the sink at most. */
  call: number;
  /** Before the first repetition; each repetition doubles it. */
  firstDelay: number;
  longestDelay: number;
  /** Of the end of a run at most. */
  end: number;
}

const usualTimes: SinkTimes = { call: 30_000, firstDelay: 1000, longestDelay: 60_000, end: 10_000 };

/** Events that wait at most. Beyond it the oldest are left out: metrics.jsonl has them. */
const maxWaiting = 10_000;
const batchSize = 100;

export class SinkQueue {
  readonly #sink: MetricSink;
  readonly #run: ReportedRun;
  readonly #onOpen: (id: string) => Promise<void>;
  readonly #times: SinkTimes;
  readonly #waiting: ReportedMetrics[] = [];
  /** Aborts when the time of the end is over. */
  readonly #leave = new AbortController();
  /** Aborts the wait before a repetition. */
  readonly #ending = new AbortController();
  #work: Promise<void> | undefined;
  #isOpen = false;
  #isBegun = false;
  #gaveUp = false;
  #hasWarned = false;
  #left = 0;

  /** @param onOpen Keeps the id of the remote run. */
  constructor(
    sink: MetricSink,
    run: ReportedRun,
    onOpen: (id: string) => Promise<void>,
    times: Partial<SinkTimes> = {},
  ) {
    this.#sink = sink;
    this.#run = run;
    this.#onOpen = onOpen;
    this.#times = { ...usualTimes, ...(sink.endTime !== undefined && { end: sink.endTime }), ...times };
  }

  /** Returns at once. */
  push(event: ReportedMetrics): void {
    if (this.#gaveUp) return;
    this.#isBegun = true;
    this.#waiting.push(event);
    if (this.#waiting.length > maxWaiting) {
      this.#waiting.shift();
      this.#left += 1;
    }
    this.#work ??= this.#send().finally(() => {
      this.#work = undefined;
    });
  }

  /** Sends what waits, within the time of the end, and closes the sink. Never rejects. */
  async close(end: RunEnd): Promise<void> {
    if (!this.#isBegun) return;
    this.#ending.abort();
    const timer = setTimeout(() => this.#leave.abort(new Error('The run has ended.')), this.#times.end);
    try {
      await this.#work;
      await this.#call((signal) => this.#sink.close(end, signal)).catch((error: unknown) =>
        this.#warn(error),
      );
    } finally {
      clearTimeout(timer);
    }
    const unsent = this.#left + this.#waiting.length;
    if (unsent > 0 && !this.#gaveUp) {
      warn(`${this.#sink.name} did not get the metrics of ${unsent} events; metrics.jsonl has them.`);
    }
  }

  async #send(): Promise<void> {
    // Push returns first.
    await Promise.resolve();
    let delay = this.#times.firstDelay;
    while (this.#waiting.length > 0 && !this.#leave.signal.aborted) {
      const batch = this.#isOpen ? this.#waiting.splice(0, batchSize) : [];
      try {
        if (this.#isOpen) await this.#call((signal) => this.#sink.write(batch, signal));
        else await this.#open();
        delay = this.#times.firstDelay;
      } catch (error) {
        this.#waiting.unshift(...batch);
        this.#warn(error);
        if (ToolEnvError.isInstance(error) && error.code.startsWith('usage.')) {
          this.#gaveUp = true;
          this.#waiting.length = 0;
          return;
        }
        // The end of the run repeats more often, because its time is short.
        const wait = this.#ending.signal.aborted ? this.#times.firstDelay : delay;
        const stop = this.#ending.signal.aborted ? this.#leave.signal : this.#ending.signal;
        await sleep(wait, undefined, { ref: this.#ending.signal.aborted, signal: stop }).catch(() => {});
        delay = Math.min(2 * delay, this.#times.longestDelay);
      }
    }
  }

  async #open(): Promise<void> {
    const id = await this.#call((signal) => this.#sink.open(this.#run, signal));
    this.#isOpen = true;
    if (id !== undefined) await this.#onOpen(id).catch((error: unknown) => this.#warn(error));
  }

  /** Rejects if the call takes too long, even if the sink ignores its signal. */
  async #call<Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { call: after } = this.#times;
    const expired = AbortSignal.timeout(after);
    const signal = AbortSignal.any([expired, this.#leave.signal]);
    let refuse = () => {};
    const abandoned = new Promise<never>((_, reject) => {
      refuse = () =>
        reject(expired.aborted ? new Error(`it did not answer within ${after / 1000} s`) : signal.reason);
      if (signal.aborted) refuse();
      else signal.addEventListener('abort', refuse, { once: true });
    });
    try {
      return await Promise.race([(async () => call(signal))(), abandoned]);
    } finally {
      signal.removeEventListener('abort', refuse);
    }
  }

  /** Warns of the first problem only. */
  #warn(error: unknown): void {
    if (this.#hasWarned || this.#leave.signal.aborted) return;
    this.#hasWarned = true;
    const isFinal = ToolEnvError.isInstance(error) && error.code.startsWith('usage.');
    const consequence = isFinal ? 'The sink is left out' : 'The run continues and retries';
    const problem = messageOf(error).replace(/\.?$/, '.');
    warn(`Reporting to ${this.#sink.name} failed: ${problem} ${consequence}.`);
  }
}

/** Some words of a warning are a server's, and may hold what a terminal obeys, or a key that it was sent. */
function warn(message: string): void {
  process.emitWarning(redactSecrets(message).replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' '), 'Report');
}
