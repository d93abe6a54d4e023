/** UsageCount: what a run, or a part of it, has asked of a model elsewhere, in requests, tokens and dollars. */
import { messageOf, ToolEnvError, type TurnUsage } from '@toolenv/core';
import { readRegular } from '@toolenv/core/files';
import type { PolicyUsage } from '@toolenv/core/plugins';
import { isObject } from '@toolenv/core/schemas';

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

/** Dollars for a million tokens. No prices are built in: they would go stale in silence. */
export interface Prices {
  inputPrice?: number | undefined;
  /** Of the input tokens that the server had in its cache. Default: `inputPrice`. */
  cachedPrice?: number | undefined;
  outputPrice?: number | undefined;
}

const form = '{"<model>": {"input": 0.25, "cached": 0.025, "output": 2}}, in dollars for a million tokens';
const remedy = `write it as ${form}`;

/**
 * The prices of a model in a file such as `{"gpt-5-mini": {"input": 0.25, "output": 2}, "qwen*": {"input": 0, "output": 0}}`. The exact name
 * wins, else the first name with `*`, which stands for any characters, that fits. `cached` may be left out. No prices if no name fits.
 * @param file Absent: no prices.
 * @throws ToolEnvError `usage.prices` for a file of another form.
 */
export async function readPrices(file: string | undefined, model: string): Promise<Prices> {
  return file === undefined ? {} : pricesOf(await readPriceTable(file), model);
}

/** The prices of a model in a table, as {@link readPrices} says. */
export function pricesOf(table: PriceTable, model: string): Prices {
  const name = Object.hasOwn(table, model) ? model : Object.keys(table).find((each) => fits(each, model));
  if (name === undefined) return {};
  const { input, cached, output } = table[name]!;
  return { inputPrice: input, cachedPrice: cached, outputPrice: output };
}

/** By the name of a model, or a pattern. */
type PriceTable = Record<string, { input: number; cached?: number; output: number }>;

/** @throws ToolEnvError `usage.prices`. */
export async function readPriceTable(file: string): Promise<PriceTable> {
  const refuse = (why: string, cause?: unknown) =>
    new ToolEnvError('usage.prices', `The prices in ${file} ${why}: ${remedy}.`, { cause });
  let value: unknown;
  try {
    value = JSON.parse(await readRegular(file, remedy));
  } catch (error) {
    if (error instanceof SyntaxError) throw refuse('are not JSON', error);
    throw refuse(`cannot be read (${messageOf(error)})`, error);
  }
  if (!isObject(value)) throw refuse('are not an object');
  for (const [name, prices] of Object.entries(value)) {
    const wrong = mistakeOf(prices);
    if (wrong !== undefined) throw refuse(`are wrong for ${JSON.stringify(name.slice(0, 100))}: ${wrong}`);
  }
  return value as PriceTable;
}

function mistakeOf(prices: unknown): string | undefined {
  if (!isObject(prices)) return 'they are not an object';
  const { input, cached, output, ...others } = prices;
  const isPrice = (value: unknown) => Number.isFinite(value) && (value as number) >= 0;
  if (!isPrice(input) || !isPrice(output)) return '"input" and "output" must be numbers from 0 up';
  if (cached !== undefined && !isPrice(cached)) return '"cached" must be a number from 0 up';
  const [other] = Object.keys(others);
  return other === undefined ? undefined : `${JSON.stringify(other.slice(0, 100))} is unknown`;
}

/** In time that grows with the product of both lengths at most, whatever the pattern. */
function fits(pattern: string, model: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === model;
  if (!model.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = model.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return model.length - last.length >= at && model.endsWith(last);
}
