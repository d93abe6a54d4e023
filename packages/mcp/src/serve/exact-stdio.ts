/** ExactStdio: the SDK's stdio transport of a server, which would round the integers that a client sends. */
import { PassThrough, type Readable } from 'node:stream';
import { parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { MessageLines } from '../message-lines.ts';

export class ExactStdio extends StdioServerTransport {
  readonly #input: Readable;
  /** What the SDK reads: nothing but the end of the input. */
  readonly #end: PassThrough;
  readonly #lines = new MessageLines(parseJSONRPCMessage);

  constructor(input: Readable = process.stdin, end: PassThrough = new PassThrough()) {
    super(end);
    this.#input = input;
    this.#end = end;
  }

  override async start(): Promise<void> {
    await super.start();
    const input = this.#input;
    input.on('data', this.#read).on('end', this.#leave).on('close', this.#leave).on('error', this.#fail);
    if (input.readableEnded || input.destroyed) this.#leave();
  }

  override async close(): Promise<void> {
    const input = this.#input;
    input.off('data', this.#read).off('end', this.#leave).off('close', this.#leave).off('error', this.#fail);
    // An input that flows would keep the process alive.
    if (input.listenerCount('data') === 0) input.pause();
    this.#lines.clear();
    await super.close();
  }

  #leave = (): void => void this.#end.end();

  #fail = (error: Error): void => this.onerror?.(error);

  #read = (chunk: Buffer): void => {
    try {
      this.#lines.append(chunk);
    } catch (error) {
      this.onerror?.(error as Error);
      this.close().catch(() => {});
      return;
    }
    for (let message = this.#next(); message !== null; message = this.#next()) {
      if (message) this.onmessage?.(message);
    }
  };

  /** `undefined` for a line that is not a message. */
  #next(): ReturnType<typeof parseJSONRPCMessage> | null | undefined {
    try {
      return this.#lines.next();
    } catch (error) {
      this.onerror?.(error as Error);
      return undefined;
    }
  }
}
