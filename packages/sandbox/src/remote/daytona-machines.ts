/** DaytonaMachines: machines of Daytona, by its package `@daytona/sdk`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sandboxUsage } from '../sandbox-errors.ts';
import type {
  CallOptions,
  ListedMachine,
  Machine,
  MachineService,
  RemoteOptions,
  ScriptResult,
} from './machine.ts';

/** The part of the client's class `Sandbox` that is used. Times are seconds. */
export interface DaytonaSandbox {
  readonly id: string;
  readonly labels: Record<string, string>;
  readonly process: {
    executeCommand(
      command: string,
      folder?: string,
      env?: Record<string, string>,
      timeout?: number,
    ): Promise<{ exitCode: number; result: string }>;
  };
  readonly fs: { uploadFile(bytes: Buffer, path: string, timeout?: number): Promise<void> };
  refreshActivity(): Promise<void>;
  delete(timeout?: number): Promise<void>;
}

/** The part of the client's class `Daytona` that is used. */
export interface Daytona {
  create(parameters: Record<string, unknown>, options: { timeout: number }): Promise<DaytonaSandbox>;
  list(query: { labels: Record<string, string> }): AsyncIterable<DaytonaSandbox>;
  [Symbol.asyncDispose](): Promise<void>;
}

export type DaytonaClient = new (configuration: {
  apiKey: string;
  apiUrl: string;
  requestTimeoutMs: number;
  useDeprecatedPolling: boolean;
}) => Daytona;

export interface DaytonaOptions extends RemoteOptions {
  snapshot: string;
  image: string;
  memory: number;
  disk: number;
  cpu: number;
  url: string;
}

/** Milliseconds of a request, and seconds of a machine to begin. */
const times = { request: 60_000, begin: 110 };

/** Bytes of an answer: a file of 16 MiB in base64. Without a limit, a machine could fill the memory of this process. */
const maxAnswerLength = 48 * 2 ** 20;

/** A request that the service refuses for now is sent again, at most so often, after at most so many seconds. */
const busy = { tries: 4, maxPause: 30 };

export class DaytonaMachines implements MachineService {
  readonly #daytona: Daytona;
  readonly #options: DaytonaOptions;

  /** @throws ToolEnvError `usage.sandbox` for a size without an image, which the service would not heed. */
  constructor(client: DaytonaClient, apiKey: string, options: DaytonaOptions) {
    const { image, cpu, memory, disk } = options;
    if (image === '' && cpu + memory + disk > 0)
      throw sandboxUsage('daytona-v1: cpu, memory and disk are of an image: give the option image too.');
    this.#daytona = new client({
      apiKey,
      // Named, so that no file .env of the working folder may name another.
      apiUrl: options.url || process.env.DAYTONA_API_URL || 'https://app.daytona.io/api',
      requestTimeoutMs: times.request,
      // Otherwise the client holds a connection open.
      useDeprecatedPolling: true,
    });
    this.#options = options;
    // The client has no option for it, and passes these on to each request.
    const { clientConfig } = this.#daytona as unknown as { clientConfig?: { baseOptions?: object } };
    Object.assign(clientConfig?.baseOptions ?? {}, { maxContentLength: maxAnswerLength });
  }

  async create(labels: Readonly<Record<string, string>>): Promise<Machine> {
    const { snapshot, image, cpu, memory, disk, ttl, network, user } = this.#options;
    const resources = {
      ...(cpu > 0 && { cpu }),
      ...(memory > 0 && { memory }),
      ...(disk > 0 && { disk }),
    };
    const parameters = {
      labels: { ...labels },
      ephemeral: true,
      autoStopInterval: Math.ceil(ttl / 60),
      networkBlockAll: !network,
      ...(user !== '' && { user }),
      ...(image !== '' ? { image, resources } : snapshot !== '' && { snapshot }),
    };
    const made = await unlessBusy(() => this.#daytona.create(parameters, { timeout: times.begin }));
    return new DaytonaMachine(made);
  }

  async list(labels: Readonly<Record<string, string>>): Promise<ListedMachine[]> {
    const found: ListedMachine[] = [];
    for await (const sandbox of this.#daytona.list({ labels: { ...labels } })) {
      const machine = new DaytonaMachine(sandbox);
      found.push({ id: machine.id, labels: sandbox.labels, remove: () => machine.remove() });
    }
    return found;
  }

  close(): Promise<void> {
    return this.#daytona[Symbol.asyncDispose]();
  }
}

class DaytonaMachine implements Machine {
  readonly #sandbox: DaytonaSandbox;

  constructor(sandbox: DaytonaSandbox) {
    this.#sandbox = sandbox;
  }

  get id(): string {
    return this.#sandbox.id;
  }

  async exec(script: string, { within, most }: CallOptions & { most: number }): Promise<ScriptResult> {
    const { process } = this.#sandbox;
    const seconds = Math.ceil(within / 1000);
    const { result, exitCode } = await unlessBusy(() =>
      process.executeCommand(script, '/', undefined, seconds),
    );
    if (typeof result !== 'string' || typeof exitCode !== 'number')
      throw new Error('it did not answer as it must');
    if (result.length > most) throw new Error('it answers too much');
    return { output: result, exitCode };
  }

  upload(path: string, bytes: Uint8Array, { within }: CallOptions): Promise<void> {
    const seconds = Math.ceil(within / 1000);
    return unlessBusy(() => this.#sandbox.fs.uploadFile(Buffer.from(bytes), path, seconds));
  }

  renew(): Promise<void> {
    return this.#sandbox.refreshActivity();
  }

  async remove(): Promise<void> {
    try {
      await unlessBusy(() => this.#sandbox.delete());
    } catch (error) {
      if (statusOf(error) !== 404) throw error;
    }
  }
}

/** Sends a request again that the service has refused with 429, after the time that it names. */
async function unlessBusy<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let tried = 1; ; tried++) {
    try {
      return await call();
    } catch (error) {
      if (statusOf(error) !== 429 || tried === busy.tries) throw error;
      const { headers } = Object(error) as { headers?: Record<string, unknown> };
      const named = Number(headers?.['retry-after'] ?? 2 ** tried);
      await sleep(1000 * Math.min(Number.isFinite(named) && named >= 0 ? named : 1, busy.maxPause));
    }
  }
}

function statusOf(error: unknown): unknown {
  return (Object(error) as { statusCode?: unknown }).statusCode;
}
