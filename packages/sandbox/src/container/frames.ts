/** Frames: the output of an exec, as Docker multiplexes it. Keeps the first bytes of each stream. */

/** Bytes of a frame's head: the stream, three zeros, and the length. */
const headLength = 8;

export class Frames {
  readonly #most: number;
  readonly #kept: [Buffer[], Buffer[]] = [[], []];
  readonly #sizes: [number, number] = [0, 0];
  #head: Buffer = Buffer.alloc(0);
  /** The stream of the frame that is read, and what is missing of it. */
  #stream: 0 | 1 = 0;
  #missing = 0;
  /** Bytes of both streams so far. */
  seen = 0;

  /** @param most Bytes to keep of each stream. */
  constructor(most: number) {
    this.#most = most;
  }

  add(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#missing > 0) {
        const part = rest.subarray(0, this.#missing);
        this.#missing -= part.length;
        this.#keep(part);
        rest = rest.subarray(part.length);
        continue;
      }
      const needed = headLength - this.#head.length;
      this.#head = Buffer.concat([this.#head, rest.subarray(0, needed)]);
      rest = rest.subarray(needed);
      if (this.#head.length < headLength) return;
      this.#stream = this.#head[0] === 2 ? 1 : 0;
      this.#missing = this.#head.readUInt32BE(4);
      this.#head = Buffer.alloc(0);
    }
  }

  /** The first bytes of stdout (0) or stderr (1). */
  bytes(stream: 0 | 1): Buffer {
    return Buffer.concat(this.#kept[stream]);
  }

  get truncated(): boolean {
    return this.#sizes.some((size) => size > this.#most);
  }

  #keep(part: Buffer): void {
    const kept = part.subarray(0, Math.max(0, this.#most - this.#sizes[this.#stream]));
    this.#sizes[this.#stream] += part.length;
    this.seen += part.length;
    if (kept.length > 0) this.#kept[this.#stream].push(Buffer.from(kept));
  }
}
