/** RequestQueue: a limited number of requests at a time, each sent again after transient faults. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolEnvError } from '@toolenv/core';
import { untilAborted } from '@toolenv/core/tools';
import { backoff } from '@toolenv/serving/client';
import pLimit, { type LimitFunction } from 'p-limit';
import type { UsageCount } from './usage-count.ts';

export interface QueueOptions {
  /** Requests at a time. Default 64. */
  concurrency?: number | undefined;
  /** Times that a request is sent again after a transient fault. Default 5. */
  retries?: number | undefined;
}

/** What an attempt led to. `after`: milliseconds to wait before the next, if the server asks for them. */
export type Attempt<T> = { value: T } | { fault: ToolEnvError; after?: number | undefined };

/** Milliseconds: a server that asks for a longer wait is not waited for. */
const maxWait = 120_000;

export class RequestQueue {
  readonly #options: QueueOptions;
  readonly #limit: LimitFunction;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#limit = pLimit(options.concurrency ?? 64);
  }

  /**
   * The value of the first attempt that has one. A request that waits keeps its place, so that a server in trouble gets fewer.
   * @param attempt Never called once the signal has aborted.
   * @param options.usage Counts the requests.
   * @throws The fault of the last attempt, `infrastructure.model_rate_limit` for a wait that is too long, the signal's reason,
   *   and what `attempt` throws.
   */
  async run<T>(
    attempt: () => Promise<Attempt<T>>,
    {
      usage,
      signal,
      retries = this.#options.retries ?? 5,
    }: { usage: UsageCount; signal?: AbortSignal | undefined; retries?: number },
  ): Promise<T> {
    signal?.throwIfAborted();
    const attempts = async () => {
      for (let count = 1; ; count++) {
        signal?.throwIfAborted();
        usage.addRequest();
        const result = await attempt();
        if ('value' in result) return result.value;
        const { fault, after } = result;
        if (count > retries) throw fault;
        if (after !== undefined && after > maxWait) {
          const message = `${fault.message} It asks to wait ${Math.ceil(after / 1000)} s: start again later.`;
          throw new ToolEnvError('infrastructure.model_rate_limit', message, { cause: fault });
        }
        usage.addRetry();
        // Aborted waits end in the check above.
        await sleep(after ?? backoff(count), undefined, { signal }).catch(() => {});
      }
    };
    return untilAborted(signal, () => this.#limit(attempts));
  }
}
