/** UsageCount: what a run has asked of a model elsewhere, in requests, tokens and dollars. */
import type { PolicyUsage } from '@toolenv/core/plugins';

/** Dollars for a million tokens. */
export interface Prices {
  inputPrice?: number | undefined;
  /** Of the input tokens that the server had in its cache. Default: `inputPrice`. */
  cachedPrice?: number | undefined;
  outputPrice?: number | undefined;
}

export class UsageCount {
  requests = 0;
  retries = 0;
  #input = 0;
  #cached = 0;
  #output = 0;
  #uncounted = 0;
  readonly #prices: Prices;

  constructor(prices: Prices) {
    this.#prices = prices;
  }

  /** Adds the tokens of a reply; some servers leave them out. */
  add(input: unknown, output: unknown, cached: unknown): void {
    this.#input += count(input);
    this.#output += count(output);
    this.#cached += count(cached);
    if (count(input) + count(output) === 0) this.#uncounted += 1;
  }

  get total(): PolicyUsage {
    const { requests, retries } = this;
    const { inputPrice, cachedPrice = inputPrice, outputPrice } = this.#prices;
    const tokens = {
      inputTokens: this.#input,
      cachedTokens: this.#cached,
      outputTokens: this.#output,
      ...(this.#uncounted > 0 && { uncountedReplies: this.#uncounted }),
    };
    if (inputPrice === undefined && outputPrice === undefined) return { requests, retries, ...tokens };
    // A server may count more cached tokens than it was given.
    const cached = Math.min(this.#cached, this.#input);
    const input = (this.#input - cached) * (inputPrice ?? 0) + cached * (cachedPrice ?? 0);
    const cost = (input + this.#output * (outputPrice ?? 0)) / 1e6;
    return { requests, retries, ...tokens, cost };
  }
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}
