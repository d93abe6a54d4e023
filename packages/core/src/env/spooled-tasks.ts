/** spoolTasks: keeps the tasks of a stream in a temporary file, so that memory holds only where each of them begins. */
import { closeSync, openSync, read, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';
import type { TaskSet } from './env-definition.ts';

const readBytes = promisify(read);

/** Bytes that wait in memory. A stream with fewer bytes needs no file. */
const bufferSize = 2 ** 20;

/**
 * Reads the stream to its end. Each task is read from the file, as JSON, when it is asked for.
 * @throws What the stream throws; ToolEnvError `bug.environment` for a task that is not a JSON value, `infrastructure.disk` for a folder
 *   without space.
 */
export async function spoolTasks<Task>(stream: AsyncIterable<Task>): Promise<TaskSet<Task>> {
  const spool = new Spool();
  for await (const task of stream) spool.add(jsonOf(task, spool.length));
  return {
    length: spool.length,
    get: async (index) => JSON.parse((await spool.read(index)).toString()),
  };
}

function jsonOf(task: unknown, index: number): string {
  let problem = `it is ${typeof task}`;
  try {
    const json = JSON.stringify(task);
    if (json !== undefined) return json;
  } catch (error) {
    problem = messageOf(error);
  }
  const message = `Task ${index} of a stream is not a JSON value (${problem}): yield objects, arrays, strings and numbers.`;
  throw new ToolEnvError('bug.environment', message);
}

/** Closes the file of a spool that nobody uses any more. */
const unused = new FinalizationRegistry<number>((file) => closeSync(file));

/** Texts in a file without a name, which the system deletes when the process ends. The last texts wait in memory. */
class Spool {
  #file: number | undefined;
  /** Where each text begins. */
  readonly #starts: number[] = [];
  /** Bytes of all texts. */
  #size = 0;
  /** Bytes of the texts that are in the file. */
  #written = 0;
  #waiting: Buffer[] = [];

  get length(): number {
    return this.#starts.length;
  }

  add(text: string): void {
    const bytes = Buffer.from(text);
    this.#starts.push(this.#size);
    this.#size += bytes.length;
    this.#waiting.push(bytes);
    if (this.#size - this.#written >= bufferSize) this.#write();
  }

  async read(index: number): Promise<Buffer> {
    const start = this.#starts[index]!;
    const end = this.#starts[index + 1] ?? this.#size;
    if (start >= this.#written) {
      this.#waiting = [Buffer.concat(this.#waiting)];
      return this.#waiting[0]!.subarray(start - this.#written, end - this.#written);
    }
    const bytes = Buffer.alloc(end - start);
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await readBytes(this.#file!, bytes, done, bytes.length - done, start + done);
      if (bytesRead === 0) throw new ToolEnvError('infrastructure.disk', 'The file of a stream is cut off.');
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
      const message = `The tasks of a stream cannot be kept in ${tmpdir()} (${messageOf(error)}): make room there, or let TMPDIR name another folder.`;
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
