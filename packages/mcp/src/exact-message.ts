/**
 * exactMessage: a JSON-RPC message whose integers are not rounded where a model writes or reads them. JSON has integers of any size, and
 * JavaScript's numbers are exact up to ±(2⁵³ − 1).
 */
import { bigintsAs, exactJson, isObject, unsafeInteger } from '@toolenv/core/schemas';

/**
 * In the arguments of a call, an integer that a number would round is a bigint, which environments refuse as a mistake of the model. In
 * structured content, it is the text of its digits. Elsewhere it is rounded.
 * @throws SyntaxError if the text is not JSON.
 */
export function exactMessage(text: string): unknown {
  return exactJson(text, settle);
}

/** The text of a server's message for a reader that rounds: the same, or with the long integers of its structured content as strings. */
export function exactText(text: string): string {
  if (unsafeInteger(text) === undefined) return text;
  try {
    return JSON.stringify(exactMessage(text));
  } catch {
    // The reader says what is wrong with it.
    return text;
  }
}

function settle(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(settle);
  if (!isObject(message)) return bigintsAs('number', message);
  const { params, result, ...rest } = message;
  return {
    ...(bigintsAs('number', rest) as object),
    ...(params !== undefined && { params: without(params, 'arguments', (args) => args) }),
    ...(result !== undefined && {
      result: without(result, 'structuredContent', (content) => bigintsAs('text', content)),
    }),
  };
}

/** The object with rounded integers, except in one property. */
function without(value: unknown, name: string, read: (part: unknown) => unknown): unknown {
  if (!isObject(value) || value[name] === undefined) return bigintsAs('number', value);
  const { [name]: exact, ...rest } = value;
  return { ...(bigintsAs('number', rest) as object), [name]: read(exact) };
}

/** Bytes of a message, and of the messages that wait. The limit of the SDK. */
const longest = 10 * 1024 * 1024;

/** The messages of a stream of lines (MCP 2025-11-25, basic/transports#stdio). */
export class MessageLines<Message> {
  readonly #parse: (value: unknown) => Message;
  readonly #onError: (error: Error) => void;
  /** Whole lines that wait. */
  #whole: Buffer = Buffer.alloc(0);
  /** The line after them, in the chunks that have come. They are joined at its end: a line of 10 MB has thousands. */
  #begun: Buffer[] = [];
  #length = 0;

  /**
   * @param parse Throws for JSON that is not a message.
   * @param onError Called with what it throws.
   */
  constructor(parse: (value: unknown) => Message, onError: (error: Error) => void) {
    this.#parse = parse;
    this.#onError = onError;
  }

  /** @throws Error for a message that is too long. Then the start of the next message is unknown. */
  append(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > longest) {
      this.clear();
      throw new Error(`it has more than ${longest} bytes`);
    }
    const end = chunk.lastIndexOf('\n') + 1;
    if (end > 0) {
      this.#whole = Buffer.concat([this.#whole, ...this.#begun, chunk.subarray(0, end)]);
      this.#begun = [];
    }
    this.#begun.push(chunk.subarray(end));
  }

  /** The next message as `exactMessage` reads it; `undefined` if none is complete. Skips lines that are no messages. */
  next(): Message | undefined {
    while (this.#whole.length > 0) {
      const end = this.#whole.indexOf('\n') + 1;
      const line = this.#whole.toString('utf8', 0, end);
      this.#whole = this.#whole.subarray(end);
      this.#length -= end;
      let message: unknown;
      try {
        message = exactMessage(line);
      } catch {
        continue;
      }
      try {
        return this.#parse(message);
      } catch (error) {
        this.#onError(error as Error);
      }
    }
    return undefined;
  }

  clear(): void {
    this.#whole = Buffer.alloc(0);
    this.#begun = [];
    this.#length = 0;
  }
}
