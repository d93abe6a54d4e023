/** UsageCount: what a run, or a part of it, has asked of a model elsewhere, in requests, tokens and dollars. */
import type { TurnUsage } from '@toolenv/core';
import type { PolicyUsage } from '@toolenv/core/plugins';
import type { Prices } from './prices.ts';

const nothing = {
  requests: 0,
  retries: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  uncountedReplies: 0,
  cachedReplies: 0,
};

export class UsageCount {
  /** What the tokens cost. */
  prices: Prices;
  readonly #whole: UsageCount | undefined;
  readonly #counts: typeof nothing = { ...nothing };
  readonly #begun: number = performance.now();

  /** @param whole Counts everything that this count counts. */
  constructor(prices: Prices, whole?: UsageCount) {
    this.prices = prices;
    this.#whole = whole;
  }

  /** A count of its own for a turn, which counts here too. */
  part(): UsageCount {
    return new UsageCount(this.prices, this);
  }

  addRequest(): void {
    this.#add({ requests: 1 });
  }

  addRetry(): void {
    this.#add({ retries: 1 });
  }

  /** Adds a reply that was kept on disk, which costs nothing. */
  addCached(): void {
    this.#add({ cachedReplies: 1 });
  }

  /** Adds the tokens of a reply; some servers leave them out. */
  addReply(input: unknown, output: unknown, cached: unknown): void {
    const [inputTokens, outputTokens] = [count(input), count(output)];
    this.#add({
      inputTokens,
      outputTokens,
      // A server may count more cached tokens than it was given.
      cachedTokens: Math.min(count(cached), inputTokens),
      uncountedReplies: inputTokens + outputTokens === 0 ? 1 : 0,
    });
  }

  get total(): PolicyUsage {
    const { uncountedReplies, cachedReplies, ...counts } = this.#counts;
    const cost = this.#cost;
    return {
      ...counts,
      ...(uncountedReplies > 0 && { uncountedReplies }),
      ...(cachedReplies > 0 && { cachedReplies }),
      ...(cost !== undefined && { cost }),
    };
  }

  /** The total of a turn that ends now. Without a request, it costs nothing even if no price is known. */
  get turn(): TurnUsage {
    const { retries, ...total } = this.total;
    const free = total.requests === 0 && { cost: 0 };
    return { ...total, ...free, milliseconds: performance.now() - this.#begun };
  }

  get #cost(): number | undefined {
    const { inputPrice, cachedPrice = inputPrice, outputPrice } = this.prices;
    if (inputPrice === undefined && outputPrice === undefined) return undefined;
    const { inputTokens, cachedTokens, outputTokens } = this.#counts;
    const input = (inputTokens - cachedTokens) * (inputPrice ?? 0) + cachedTokens * (cachedPrice ?? 0);
    return (input + outputTokens * (outputPrice ?? 0)) / 1e6;
  }

  #add(counts: Partial<typeof nothing>): void {
    for (const name of Object.keys(counts) as (keyof typeof nothing)[]) this.#counts[name] += counts[name]!;
    if (this.#whole) this.#whole.#add(counts);
  }
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}
