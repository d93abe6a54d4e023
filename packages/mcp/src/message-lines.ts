/** MessageLines: the messages of a stream of lines (MCP 2025-11-25, basic/transports#stdio). */
import { exactMessage } from './exact-message.ts';

/** Bytes of a message, and of the messages that wait. The limit of the SDK. */
const longest = 10 * 1024 * 1024;

export class MessageLines<Message> {
  readonly #parse: (value: unknown) => Message;
  #waiting: Buffer = Buffer.alloc(0);

  /** @param parse Throws for JSON that is not a message. */
  constructor(parse: (value: unknown) => Message) {
    this.#parse = parse;
  }

  /** @throws Error for a message that is too long. Then the start of the next message is unknown. */
  append(chunk: Buffer): void {
    const length = this.#waiting.length + chunk.length;
    if (length > longest) {
      this.clear();
      throw new Error(`it has more than ${longest} bytes`);
    }
    this.#waiting = Buffer.concat([this.#waiting, chunk]);
  }

  /**
   * The next message as `exactMessage` reads it; `null` if none is complete. Skips lines that are not JSON.
   * Throws as `parse` does.
   */
  next(): Message | null {
    for (let end = this.#waiting.indexOf('\n'); end >= 0; end = this.#waiting.indexOf('\n')) {
      const line = this.#waiting.toString('utf8', 0, end);
      this.#waiting = this.#waiting.subarray(end + 1);
      let message: unknown;
      try {
        message = exactMessage(line);
      } catch {
        continue;
      }
      return this.#parse(message);
    }
    return null;
  }

  clear(): void {
    this.#waiting = Buffer.alloc(0);
  }
}
