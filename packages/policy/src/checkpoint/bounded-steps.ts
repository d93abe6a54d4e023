/** boundSteps: a tokenizer that refuses to make much text of little, step by step. */
import type { Tokenizer } from '@huggingface/tokenizers';

/** Steps of normalizing, splitting and decoding. Known tokenizers have up to ten. */
const maxSteps = 64;
/** Characters that come of a text, and for each character of it in addition. NFKC makes up to 18 characters of one. */
const baseCharacters = 64;
const charactersPerCharacter = 32;

/** What is used of the library's steps. TypeScript does not find the library's own types of these parts. */
interface Step {
  normalizers?: readonly (Step | null)[];
  tokenizers?: readonly (Step | null)[];
  decoders?: readonly (Step | null)[];
  /** Of a Replace: what it looks for. */
  pattern?: RegExp | string | null;
  config?: { type?: unknown; content?: string | null };
  normalize?(text: string): string;
  pre_tokenize?(text: string | string[], options?: object): string[];
  pre_tokenize_text?(text: string, options?: object): string[];
  decode_chain?(tokens: string[]): string[];
}

/**
 * Changes the steps of a tokenizer, so that they throw when a text grows too much. A few steps that double a text would
 * otherwise fill the memory. Contents of Replace are literal, as in Hugging Face tokenizers.
 * @param refuse Makes the error that says what is wrong.
 * @throws What `refuse` makes, if there are too many steps.
 */
export function boundSteps(tokenizer: Tokenizer, refuse: (what: string) => Error): void {
  const { normalizer, pre_tokenizer, decoder } = tokenizer as unknown as Record<string, Step | null>;
  const tops = [normalizer, pre_tokenizer, decoder].filter((step) => step != null);
  const steps = tops.map((top) => [...stepsOf(top)]);
  const count = steps.flat().length;
  if (count > maxSteps) throw refuse(`it has ${count} steps, and at most ${maxSteps} are supported`);
  for (const [index, top] of tops.entries()) {
    const budget = new Budget(refuse);
    for (const step of steps[index]!) boundStep(step, budget);
    beginAt(top, budget);
  }
}

function* stepsOf(step: Step): Generator<Step> {
  yield step;
  for (const inner of step.normalizers ?? step.tokenizers ?? step.decoders ?? [])
    if (inner) yield* stepsOf(inner);
}

/** The characters that a text may become. */
class Budget {
  #most = 0;
  readonly #refuse: (what: string) => Error;

  constructor(refuse: (what: string) => Error) {
    this.#refuse = refuse;
  }

  /** Begins with a text or its parts. */
  begin(parts: string | readonly string[]): void {
    this.#most = baseCharacters + charactersPerCharacter * sizeOf(parts);
  }

  /** @throws What `refuse` makes, if the text or its parts have more characters than the budget. */
  check<T extends string | readonly string[]>(parts: T): T {
    this.spend(sizeOf(parts));
    return parts;
  }

  spend(characters: number): void {
    if (characters > this.#most) throw this.#refuse('its steps make too much text of a short one');
  }
}

/** Characters. An empty part counts too, as it takes memory. */
function sizeOf(parts: string | readonly string[]): number {
  if (typeof parts === 'string') return parts.length;
  let size = parts.length;
  for (const part of parts) size += part.length;
  return size;
}

function boundStep(step: Step, budget: Budget): void {
  const { pattern, config } = step;
  const replace = (text: string, found: RegExp | string): string => {
    const content = config?.content ?? '';
    let size = text.length;
    return text.replaceAll(found as RegExp, (match) => {
      size += content.length - match.length;
      budget.spend(size);
      return content;
    });
  };
  const isReplace = config?.type === 'Replace' && pattern != null;
  if (step.normalize) {
    const normalize = isReplace ? (text: string) => replace(text, pattern) : step.normalize.bind(step);
    step.normalize = (text) => budget.check(normalize(text));
  }
  if (step.pre_tokenize_text && isReplace) step.pre_tokenize_text = (text) => [replace(text, pattern)];
  if (step.pre_tokenize) {
    const split = step.pre_tokenize.bind(step);
    step.pre_tokenize = (text, options) => budget.check(split(text, options));
  }
  if (step.decode_chain) {
    const decode = isReplace
      ? (tokens: string[]) => tokens.map((token) => replace(token, pattern))
      : step.decode_chain.bind(step);
    step.decode_chain = (tokens) => budget.check(decode(tokens));
  }
}

/** Gives the outermost step the budget of its input. */
function beginAt(top: Step, budget: Budget): void {
  const { normalize, pre_tokenize: split, decode_chain: decode } = top;
  if (normalize) {
    top.normalize = (text) => {
      budget.begin(text);
      return normalize(text);
    };
  }
  if (split) {
    top.pre_tokenize = (text, options) => {
      budget.begin(text);
      return split(text, options);
    };
  }
  if (decode) {
    top.decode_chain = (tokens) => {
      budget.begin(tokens);
      return decode(tokens);
    };
  }
}
