/** UsageCount: what a run has asked of a server, in requests, tokens and dollars. */
import type { PolicyUsage } from '@toolenv/core/plugins';

export class UsageCount {
  requests = 0;
  retries = 0;
  inputTokens = 0;
  cachedTokens = 0;
  outputTokens = 0;
  readonly #price: { inputPrice?: number | undefined; outputPrice?: number | undefined };

  /** @param price Dollars for a million tokens. */
  constructor(price: { inputPrice?: number | undefined; outputPrice?: number | undefined } = {}) {
    this.#price = price;
  }

  /** Adds the `usage` of a reply, which some servers leave out. */
  add(usage: unknown): void {
    const { prompt_tokens, completion_tokens, prompt_tokens_details: details } = Object(usage);
    this.inputTokens += count(prompt_tokens);
    this.outputTokens += count(completion_tokens);
    this.cachedTokens += count(Object(details).cached_tokens);
  }

  get total(): PolicyUsage {
    const { requests, retries, inputTokens, cachedTokens, outputTokens } = this;
    const { inputPrice, outputPrice } = this.#price;
    const counts = { requests, retries, inputTokens, cachedTokens, outputTokens };
    if (inputPrice === undefined && outputPrice === undefined) return counts;
    const cost = (inputTokens * (inputPrice ?? 0) + outputTokens * (outputPrice ?? 0)) / 1e6;
    return { ...counts, cost };
  }
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}
