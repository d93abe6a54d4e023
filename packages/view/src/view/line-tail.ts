/** LineTail: the whole lines of a file that grows, each once. */
import { openRegular } from '@toolenv/core/files';

/** Where a line stands in the file. */
export interface Place {
  /** Of its first byte. */
  offset: number;
  /** Bytes, without the line break. */
  length: number;
}

export interface TailLine extends Place {
  text: string;
}

const chunkBytes = 1 << 20;
const remedy = 'take it out of the run';

export class LineTail {
  readonly #file: string;
  /** How often the file was replaced or truncated. */
  generation = 0;
  /** Where the next line begins. */
  #offset = 0;
  #inode = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * The lines that were written since the last call. A last line without a line break is left for a later call.
   * @param restart Called if the file was replaced or became shorter, for example by a resumed run: all its lines follow again.
   * @throws ToolEnvError if it is no regular file, and the error of the disk; a file that does not exist has no lines.
   */
  async *read(restart: () => void): AsyncGenerator<TailLine, void, void> {
    const handle = await openRegular(this.#file, remedy).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (!handle) return;
    try {
      const { size, ino } = await handle.stat();
      if (this.#offset > 0 && (ino !== this.#inode || size < this.#offset)) {
        this.#offset = 0;
        this.generation += 1;
        restart();
      }
      this.#inode = ino;
      /** The beginning of a line that is longer than a chunk, or lies in two. */
      let begun: Buffer[] = [];
      let at = this.#offset;
      for (;;) {
        const chunk = Buffer.alloc(Math.min(chunkBytes, size - at));
        if (chunk.length === 0) return;
        const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        const read = chunk.subarray(0, bytesRead);
        let start = 0;
        for (let end = read.indexOf(10); end >= 0; end = read.indexOf(10, start)) {
          const part = read.subarray(start, end);
          const line = begun.length === 0 ? part : Buffer.concat([...begun, part]);
          begun = [];
          start = end + 1;
          const offset = this.#offset;
          this.#offset += line.length + 1;
          if (line.length > 0) yield { text: line.toString('utf8'), offset, length: line.length };
        }
        if (start < read.length) begun.push(read.subarray(start));
      }
    } finally {
      await handle.close();
    }
  }

  /** The texts of lines that {@link read} gave, in the file's order. Near lines are read together. */
  async *lines(places: readonly Place[]): AsyncGenerator<string, void, void> {
    const handle = await openRegular(this.#file, remedy);
    try {
      for (let first = 0; first < places.length; ) {
        const from = places[first]!.offset;
        let last = first;
        while (last + 1 < places.length && endOf(places[last + 1]!) - from <= chunkBytes) last += 1;
        const bytes = Buffer.alloc(endOf(places[last]!) - from);
        await handle.read(bytes, 0, bytes.length, from);
        for (; first <= last; first++) {
          const { offset, length } = places[first]!;
          yield bytes.toString('utf8', offset - from, offset - from + length);
        }
      }
    } finally {
      await handle.close();
    }
  }
}

function endOf({ offset, length }: Place): number {
  return offset + length;
}
