/** Reads the tokens of a template in order, within bounds. */
import type { Token } from './lexer.ts';

/** Brackets, blocks and operators inside each other. */
const deepest = 256;

export class TokenReader {
  readonly #tokens: readonly Token[];
  #position = 0;
  #depth = 0;
  /** Tokens that the block has so far, without the blocks in it: what a run of the block costs. */
  size: number = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get token(): Token {
    return this.#tokens[this.#position]!;
  }

  /** The token after the next one. */
  get following(): Token | undefined {
    return this.#tokens[this.#position + 1];
  }

  take(): Token {
    const { token } = this;
    if (token.type !== 'end') this.#position += 1;
    this.size += 1;
    return token;
  }

  is(type: string, value?: string): boolean {
    return this.token.type === type && (value === undefined || this.token.value === value);
  }

  skip(type: string, value?: string): boolean {
    const isNext = this.is(type, value);
    if (isNext) this.take();
    return isNext;
  }

  expect(type: string): string {
    if (this.is(type)) return this.take().value;
    throw new SyntaxError(`expected ${type}, found ${this.token.value || this.token.type}`);
  }

  /** Parses something inside what is being parsed. */
  protected nest<T>(parse: () => T): T {
    const depth = this.#depth;
    this.deepen();
    const parsed = parse();
    this.#depth = depth;
    return parsed;
  }

  protected deepen(): void {
    if (++this.#depth > deepest) throw new RangeError(`it nests more than ${deepest} levels deep`);
  }
}
