/** E2bMachines: machines of E2B, by version 2 of its package `e2b`. */
import type {
  CallOptions,
  ListedMachine,
  Machine,
  MachineService,
  RemoteOptions,
  ScriptResult,
} from './machine.ts';

interface Connection {
  apiKey?: string;
  requestTimeoutMs?: number;
  signal?: AbortSignal;
}

/** The part of the client's class `Sandbox` that is used. */
export interface E2bSandbox {
  readonly sandboxId: string;
  readonly commands: {
    run(
      command: string,
      options: Connection & {
        timeoutMs?: number;
        cwd?: string;
        user?: string;
        onStdout?(text: string): void;
      },
    ): Promise<{ stdout: string; exitCode: number }>;
  };
  readonly files: {
    write(path: string, data: ArrayBuffer, options: Connection & { user?: string }): Promise<unknown>;
  };
  setTimeout(milliseconds: number, options?: Connection): Promise<void>;
  kill(options?: Connection): Promise<unknown>;
}

export interface E2bSandboxes {
  create(
    template: string,
    options: Connection & {
      timeoutMs?: number;
      metadata?: Record<string, string>;
      allowInternetAccess?: boolean;
    },
  ): Promise<E2bSandbox>;
  list(options: Omit<Connection, 'signal'> & { query?: { metadata?: Record<string, string> } }): {
    readonly hasNext: boolean;
    nextItems(): Promise<{ sandboxId: string; metadata: Record<string, string> }[]>;
  };
  kill(id: string, options: Connection): Promise<unknown>;
}

export class E2bMachines implements MachineService {
  readonly #sandboxes: E2bSandboxes;
  readonly #apiKey: string;
  readonly #options: RemoteOptions & { template: string };

  constructor(sandboxes: E2bSandboxes, apiKey: string, options: RemoteOptions & { template: string }) {
    this.#sandboxes = sandboxes;
    this.#apiKey = apiKey;
    this.#options = options;
  }

  async create(labels: Readonly<Record<string, string>>): Promise<Machine> {
    const { template, ttl, network, user } = this.#options;
    const sandbox = await this.#sandboxes.create(template, {
      apiKey: this.#apiKey,
      timeoutMs: ttl * 1000,
      metadata: { ...labels },
      allowInternetAccess: network,
    });
    return new E2bMachine(sandbox, { ttl, user });
  }

  async list(labels: Readonly<Record<string, string>>): Promise<ListedMachine[]> {
    const apiKey = this.#apiKey;
    const pages = this.#sandboxes.list({ apiKey, query: { metadata: { ...labels } } });
    const found: ListedMachine[] = [];
    while (pages.hasNext) {
      for (const { sandboxId: id, metadata } of await pages.nextItems()) {
        const remove = async () => void (await this.#sandboxes.kill(id, { apiKey }));
        found.push({ id, labels: metadata, remove });
      }
    }
    return found;
  }

  async close(): Promise<void> {
    // The client keeps nothing open.
  }
}

class E2bMachine implements Machine {
  readonly #sandbox: E2bSandbox;
  readonly #ttl: number;
  readonly #user: { user?: string };

  constructor(sandbox: E2bSandbox, { ttl, user }: { ttl: number; user: string }) {
    this.#sandbox = sandbox;
    this.#ttl = ttl;
    this.#user = user === '' ? {} : { user };
  }

  get id(): string {
    return this.#sandbox.sandboxId;
  }

  async exec(
    script: string,
    { within, signal, most }: CallOptions & { most: number },
  ): Promise<ScriptResult> {
    const stop = new AbortController();
    let length = 0;
    const onStdout = (text: string) => {
      length += text.length;
      if (length > most) stop.abort(new Error('it answers too much'));
    };
    const options = {
      ...this.#user,
      cwd: '/',
      timeoutMs: within,
      requestTimeoutMs: within,
      signal: AbortSignal.any([signal, stop.signal]),
      onStdout,
    };
    try {
      const { stdout, exitCode } = await this.#sandbox.commands.run(script, options);
      stop.signal.throwIfAborted();
      return { output: stdout, exitCode };
    } catch (error) {
      stop.signal.throwIfAborted();
      // The client throws the results of scripts that fail.
      const { name, exitCode, stdout } = Object(error) as {
        name?: string;
        exitCode?: unknown;
        stdout?: unknown;
      };
      if (name !== 'CommandExitError' || typeof exitCode !== 'number') throw error;
      return { output: String(stdout), exitCode };
    }
  }

  async upload(path: string, bytes: Uint8Array, { within, signal }: CallOptions): Promise<void> {
    const data = Uint8Array.from(bytes).buffer;
    await this.#sandbox.files.write(path, data, { ...this.#user, requestTimeoutMs: within, signal });
  }

  renew(): Promise<void> {
    return this.#sandbox.setTimeout(this.#ttl * 1000);
  }

  async remove(): Promise<void> {
    await this.#sandbox.kill();
  }
}
