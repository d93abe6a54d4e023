/** PolicyMetrics: what a served policy has done, for Prometheus. */
import { type Metric, processMetrics, prometheusText } from '@toolenv/serving';
import { type ModelReply, usageOf } from '../wire/model-request.ts';

export interface ServedPolicy {
  inFlight: number;
  waiting: number;
  conversations: number;
}

export class PolicyMetrics {
  readonly #requests: Record<string, number> = {};
  #prompt = 0;
  #completion = 0;
  #seconds = 0;

  /** @param status Of the answer; `left` if the client was gone before it. */
  count(path: string, status: number | 'left'): void {
    const labels = `{path="${path}",status="${status}"}`;
    this.#requests[labels] = (this.#requests[labels] ?? 0) + 1;
  }

  /** @param seconds From the arrival of the request to its answer. */
  answered(reply: ModelReply, seconds: number): void {
    const { prompt, completion } = usageOf(reply);
    this.#prompt += prompt;
    this.#completion += completion;
    this.#seconds += seconds;
  }

  /** In the text format of Prometheus. */
  text({ inFlight, waiting, conversations }: ServedPolicy): string {
    const metric = (type: Metric['type'], name: string, help: string, values: Metric['values']): Metric => ({
      ...{ name: `toolenv_${name}`, help, type, values },
    });
    return prometheusText([
      metric('counter', 'requests_total', 'Requests to the policy, by path and status.', this.#requests),
      metric('counter', 'prompt_tokens_total', 'Tokens of prompts.', { '': this.#prompt }),
      metric('counter', 'completion_tokens_total', 'Tokens that were generated.', { '': this.#completion }),
      metric('counter', 'answer_seconds_total', 'Seconds from request to answer, of all answers.', {
        '': this.#seconds,
      }),
      metric('gauge', 'requests_in_flight', 'Requests that the policy answers now.', { '': inFlight }),
      metric('gauge', 'requests_waiting', 'Requests that wait for a place.', { '': waiting }),
      metric('gauge', 'conversations', 'Conversations between two requests whose cache is kept.', {
        '': conversations,
      }),
      ...processMetrics(),
    ]);
  }
}

/** How many requests are answered at once, and how many wait. */
export class Places {
  readonly #most: number;
  readonly #queue: number;
  #taken = 0;
  /** In the order of their arrival. */
  readonly #waiting: Set<() => void> = new Set();

  constructor({ most, queue }: { most: number; queue: number }) {
    this.#most = most;
    this.#queue = queue;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether nothing may wait any more. */
  get isFull(): boolean {
    return this.#taken >= this.#most && this.#waiting.size >= this.#queue;
  }

  /**
   * Waits for a place, which {@link leave} gives back. Do not call it while {@link isFull}.
   * @throws The signal's reason, which frees the place in the queue.
   */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#most) {
      this.#taken += 1;
      return;
    }
    let call: () => void = () => {};
    await new Promise<void>((resolve) => {
      call = resolve;
      this.#waiting.add(call);
      signal.addEventListener('abort', call, { once: true });
    });
    signal.removeEventListener('abort', call);
    const wasCalled = !this.#waiting.delete(call);
    if (wasCalled && signal.aborted) this.leave();
    signal.throwIfAborted();
  }

  leave(): void {
    const [call] = this.#waiting;
    if (call) {
      this.#waiting.delete(call);
      call();
    } else this.#taken -= 1;
  }
}
