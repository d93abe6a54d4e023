/** QueryWorker: answers SQL queries in a thread, which is ended if a query takes too long. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface Query {
  /** Makes the database that the query reads. */
  script: string;
  sql: string;
  maxRows: number;
}

export type QueryResult =
  /** One row more than `maxRows` if there are more. */
  | { columns: string[]; rows: (string | number | bigint | Uint8Array | null)[][] }
  /** What was wrong with the query, in SQLite's words. */
  | { error: string };

/** SQLite cannot be interrupted within a thread, and a query may run for ever. */
export class QueryWorker {
  readonly #timeout: number;
  #worker: Worker | undefined;
  #previous: Promise<unknown> = Promise.resolve();

  /** @param timeout Milliseconds that a query may take. */
  constructor(timeout: number) {
    this.#timeout = timeout;
  }

  /** Answers one query at a time. */
  query(query: Query): Promise<QueryResult> {
    const result = this.#previous.then(() => this.#answer(query));
    this.#previous = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    await this.#previous;
    await this.#end();
  }

  async #answer(query: Query): Promise<QueryResult> {
    this.#worker ??= await startThread();
    const late = AbortSignal.timeout(this.#timeout);
    try {
      this.#worker.postMessage(query);
      const [{ isBroken = false, ...result }] = await once(this.#worker, 'message', { signal: late });
      if (isBroken) await this.#end();
      return result;
    } catch (error) {
      await this.#end();
      if (!late.aborted) throw error;
      return { error: `the query took longer than ${this.#timeout} ms and was stopped` };
    }
  }

  async #end(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }
}

async function startThread(): Promise<Worker> {
  // Without the flags of this process, which may load a TypeScript compiler into each thread.
  const worker = new Worker(new URL('./query-thread.js', import.meta.url), { execArgv: [] });
  await once(worker, 'message');
  return worker;
}
