/** VerdictCache: verdicts by question, in memory and in a file that several processes and later runs share. */
import { appendFile, open } from 'node:fs/promises';
import { withDiskErrors } from '@toolenv/core/files';
import { tryJson } from '@toolenv/core/schemas';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import type { Verdict } from './read-verdict.ts';

/** Verdicts in memory; the oldest leave. */
const maxInMemory = 100_000;

/**
 * Of several verdicts on a question, the first line of the file counts for every process: a process appends its verdict, then reads
 * what comes first.
 */
export class VerdictCache {
  readonly #known: Map<string, Verdict> = new Map();
  readonly #file: string | undefined;
  #read = 0;
  /** The last line so far, which another process may still be writing. */
  #rest: Buffer = Buffer.alloc(0);
  #reading: Promise<void> = Promise.resolve();

  /** @param file Made if it does not exist. Default: memory alone. */
  constructor(file?: string) {
    this.#file = file;
  }

  async get(key: string): Promise<Verdict | undefined> {
    if (this.#file !== undefined && !this.#known.has(key)) await this.#catchUp(this.#file);
    return this.#known.get(key);
  }

  /** Keeps a verdict. Returns the verdict that counts. */
  async put(key: string, verdict: Verdict): Promise<Verdict> {
    const file = this.#file;
    if (file !== undefined) {
      // A line break before it too, so that half a line of a killed process spoils no other.
      const line = `\n${jsonWithoutSecrets({ key, ...verdict })}\n`;
      await withDiskErrors(file, () => appendFile(file, line));
      await this.#catchUp(file);
    }
    this.#add(key, verdict);
    return this.#known.get(key)!;
  }

  #add(key: string, verdict: Verdict): void {
    if (this.#known.has(key)) return;
    this.#known.set(key, verdict);
    if (this.#known.size > maxInMemory) this.#known.delete(this.#known.keys().next().value!);
  }

  /** Reads the lines that were appended since. */
  #catchUp(file: string): Promise<void> {
    this.#reading = this.#reading.catch(() => {}).then(() => withDiskErrors(file, () => this.#readOn(file)));
    return this.#reading;
  }

  async #readOn(file: string): Promise<void> {
    const handle = await open(file, 'a+');
    try {
      const { size } = await handle.stat();
      if (size <= this.#read) return;
      const buffer = Buffer.alloc(size - this.#read);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.#read);
      this.#read += bytesRead;
      const bytes = Buffer.concat([this.#rest, buffer.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf('\n') + 1;
      this.#rest = bytes.subarray(end);
      for (const line of bytes.subarray(0, end).toString('utf8').split('\n')) this.#take(line);
    } finally {
      await handle.close();
    }
  }

  /** A line that is not a verdict is left out: the question is then asked again. */
  #take(line: string): void {
    const { key, verdicts, scores, reason } = Object(line === '' ? undefined : tryJson(line));
    const isWhole =
      typeof key === 'string' &&
      typeof reason === 'string' &&
      Array.isArray(verdicts) &&
      Array.isArray(scores) &&
      scores.length === verdicts.length &&
      verdicts.every((verdict) => typeof verdict === 'string') &&
      scores.every(Number.isFinite);
    if (isWhole) this.#add(key, { verdicts, scores, reason });
  }
}
