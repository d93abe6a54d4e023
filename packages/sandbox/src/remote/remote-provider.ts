/** remoteProvider: a provider over the service of a vendor. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JsonSchema, type Sandbox, ToolEnvError } from '@toolenv/core';
import {
  defineSandboxProvider,
  type SandboxHost,
  type SandboxOrphan,
  type SandboxProvider,
} from '@toolenv/core/plugins';
import { registerSecret } from '@toolenv/core/secrets';
import { isOrphan, label, ownLabels } from '../process-owner.ts';
import { sandboxFault, sandboxUsage } from '../sandbox-errors.ts';
import { SparePool } from '../spare-pool.ts';
import { prepareScript } from './command-script.ts';
import {
  type ListedMachine,
  type Machine,
  type MachineService,
  type RemoteOptions,
  remoteProperties,
  whyFailed,
  withTimeout,
} from './machine.ts';
import { RemoteSandbox } from './remote-sandbox.ts';

/** What a vendor brings. */
export interface Vendor<Client, Options extends RemoteOptions> {
  name: string;
  description: string;
  /** Options beside those of all remote machines. */
  properties: Readonly<Record<string, JsonSchema>>;
  /** npm name of the client, an optional peer, and its version to install. */
  client: { name: string; version: string };
  /** Imports the client. */
  load(): Promise<Client>;
  /** The environment variable with the key. */
  keyVariable: string;
  connect(client: Client, key: string, options: Options): MachineService;
}

export function remoteProvider<Client, Options extends RemoteOptions>(
  vendor: Vendor<Client, Options>,
): SandboxProvider<Options> {
  return defineSandboxProvider<Options>({
    name: vendor.name,
    description: vendor.description,
    options: {
      type: 'object',
      properties: { ...vendor.properties, ...remoteProperties },
      additionalProperties: false,
    },
    open: async (options) => new RemoteHost(await connected(vendor, options), options),
    async inspect(options) {
      const limits = { memory: 'the machine', processes: 'the machine', disk: 'the machine' };
      let service: MachineService | undefined;
      try {
        service = await connected(vendor, options);
        return { limits, orphans: await orphansOf(service) };
      } catch (error) {
        return { problem: whyFailed(error), limits, orphans: [] };
      } finally {
        await service?.close();
      }
    },
  });
}

/** @throws ToolEnvError `usage.sandbox` without a key, `usage.missing_package` without the client. */
async function connected<Client, Options extends RemoteOptions>(
  vendor: Vendor<Client, Options>,
  options: Options,
): Promise<MachineService> {
  const { name, keyVariable, client } = vendor;
  const key = registerSecret(process.env[keyVariable]);
  if (!key) throw sandboxUsage(`${name} needs a key: set ${keyVariable} to yours.`);
  let loaded: Client;
  try {
    loaded = await vendor.load();
  } catch (error) {
    const message = `${name} needs ${client.name}: npm install ${client.name}@${client.version}`;
    throw new ToolEnvError('usage.missing_package', message, { cause: error });
  }
  return vendor.connect(loaded, key, options);
}

/** Machines that an ended process of this computer has left. */
async function orphansOf(service: MachineService): Promise<SandboxOrphan[]> {
  const machines = await withTimeout(() => service.list({ [label]: 'v1' }), { within: usualPatience.answer });
  return machines
    .filter(({ labels }) => isOrphan(labels))
    .map(({ id, remove }) => ({ name: `machine ${id}`, remove }));
}

/** Milliseconds. */
export interface RetryPolicy {
  /** Of a machine to begin. */
  begin: number;
  /** Of a machine to answer beyond the time of a command, and to end. */
  answer: number;
}

const usualPatience: RetryPolicy = { begin: 120_000, answer: 30_000 };

/** How often the service is asked to end a machine, and the milliseconds before it is asked again, which double. */
const removals = { tries: 3, pause: 500 };

/** The label of the machines of a host. */
const hostLabel = 'dev.toolenv.host';

/** The machines of a run. */
export class RemoteHost implements SandboxHost {
  readonly #service: MachineService;
  readonly #patience: RetryPolicy;
  readonly #labels: Readonly<Record<string, string>> = { ...ownLabels(), [hostLabel]: randomUUID() };
  readonly #machines: Set<Machine> = new Set();
  readonly #pool: SparePool<Machine>;
  readonly #renewal: NodeJS.Timeout;
  /** Whether the service may have made a machine that was not handed over. */
  #hasLost = false;

  constructor(service: MachineService, options: RemoteOptions, patience: RetryPolicy = usualPatience) {
    this.#service = service;
    this.#patience = patience;
    const renewAll = () => {
      // A machine that cannot be renewed fails at its next command.
      for (const machine of this.#machines) machine.renew().catch(() => {});
    };
    this.#renewal = setInterval(renewAll, (options.ttl * 1000) / 3).unref();
    const { spare, timeout, output } = options;
    this.#pool = new SparePool<Machine>({
      spare,
      begin: () => this.#begin(),
      remove: (machine) => this.#remove(machine),
      sandbox: (machine, closed) =>
        new RemoteSandbox(machine, { timeout, output, patience: patience.answer }, async () => {
          await this.#remove(machine);
          closed();
        }),
    });
  }

  sandbox(options: { signal?: AbortSignal } = {}): Promise<Sandbox> {
    return this.#pool.sandbox(options);
  }

  /** @throws ToolEnvError `infrastructure.sandbox` if the service does not end a machine. */
  async close(): Promise<void> {
    clearInterval(this.#renewal);
    try {
      await this.#pool.close();
    } finally {
      if (this.#hasLost) await this.#removeLost();
      await this.#service.close();
    }
  }

  async #begin(): Promise<Machine> {
    const bound = { within: this.#patience.begin };
    let machine: Machine | undefined;
    try {
      machine = await withTimeout(() => this.#service.create(this.#labels), bound);
      this.#machines.add(machine);
      const { output } = await withTimeout(
        (options) => machine!.exec(prepareScript, { ...options, most: 10_000 }),
        bound,
      );
      if (output.trim() !== 'ready') throw new Error(output.trim().slice(0, 500) || 'it says nothing');
      return machine;
    } catch (error) {
      if (machine) await this.#remove(machine).catch(() => {});
      else this.#hasLost = true;
      throw sandboxFault(`A machine did not start: ${whyFailed(error)}`);
    }
  }

  async #remove(machine: Machine): Promise<void> {
    if (!this.#machines.has(machine)) return;
    await removeSurely(machine, this.#patience.answer);
    this.#machines.delete(machine);
  }

  /** The time to live ends what cannot be listed or removed now. */
  async #removeLost(): Promise<void> {
    const within = this.#patience.answer;
    const own = { [hostLabel]: this.#labels[hostLabel]! };
    const lost = await withTimeout(() => this.#service.list(own), { within }).catch(() => []);
    await Promise.allSettled(lost.map((machine) => removeSurely(machine, within)));
  }
}

/** @throws ToolEnvError `infrastructure.sandbox`. */
async function removeSurely(machine: Pick<ListedMachine, 'id' | 'remove'>, within: number): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await withTimeout(() => machine.remove(), { within });
    } catch (error) {
      if (tried < removals.tries) await sleep(removals.pause * 2 ** (tried - 1));
      else {
        const why = whyFailed(error);
        throw sandboxFault(`The machine ${machine.id} was not removed (${why}): its time to live ends it.`);
      }
    }
  }
}
