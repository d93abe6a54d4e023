/** Spool: texts by their index, in a temporary file. Memory holds where each of them begins. */
import { closeSync, openSync, read, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';

const readBytes = promisify(read);

/** Bytes that wait in memory. A stream with fewer bytes needs no file. */
const bufferSize = 2 ** 20;

/** Closes the file of a spool that nobody uses any more. */
const unused = new FinalizationRegistry<number>((file) => closeSync(file));

/** Texts in a temporary file without a name, which the system deletes when the process ends. The last texts wait in memory. */
export class Spool {
  readonly #what: string;
  #file: number | undefined;
  /** Where each text begins. */
  readonly #starts: number[] = [];
  /** Bytes of all texts. */
  #size = 0;
  /** Bytes of the texts that are in the file. */
  #written = 0;
  #waiting: Buffer[] = [];

  /** @param what Names the texts in an error, as the start of a sentence in the plural. */
  constructor(what: string) {
    this.#what = what;
  }

  get length(): number {
    return this.#starts.length;
  }

  /** Keeps a text, and returns its index. Throws ToolEnvError `infrastructure.disk` for a folder without space. */
  add(text: string): number {
    const bytes = Buffer.from(text);
    this.#starts.push(this.#size);
    this.#size += bytes.length;
    this.#waiting.push(bytes);
    if (this.#size - this.#written >= bufferSize) this.#write();
    return this.#starts.length - 1;
  }

  async read(index: number): Promise<Buffer> {
    const start = this.#starts[index]!;
    const end = this.#starts[index + 1] ?? this.#size;
    if (start >= this.#written) {
      if (this.#waiting.length > 1) this.#waiting = [Buffer.concat(this.#waiting)];
      return this.#waiting[0]!.subarray(start - this.#written, end - this.#written);
    }
    const bytes = Buffer.alloc(end - start);
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await readBytes(this.#file!, bytes, done, bytes.length - done, start + done);
      if (bytesRead === 0)
        throw new ToolEnvError('infrastructure.disk', `${this.#what} are cut off in their file.`);
      done += bytesRead;
    }
    return bytes;
  }

  #write(): void {
    const bytes = Buffer.concat(this.#waiting);
    try {
      this.#file ??= this.#open();
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
    } catch (error) {
      const message = `${this.#what} cannot be kept in ${tmpdir()} (${messageOf(error)}): make room there, or let TMPDIR name another folder.`;
      throw new ToolEnvError('infrastructure.disk', message, { cause: error });
    }
    this.#written = this.#size;
    this.#waiting = [];
  }

  #open(): number {
    const path = join(tmpdir(), `toolenv-tasks-${crypto.randomUUID()}`);
    const file = openSync(path, 'wx+', 0o600);
    unused.register(this, file);
    unlinkSync(path);
    return file;
  }
}
