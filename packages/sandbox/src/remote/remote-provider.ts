/** remoteProvider: a provider over the service of a vendor. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import { defineSandboxProvider, type SandboxOrphan, type SandboxProvider } from '@toolenv/core/plugins';
import { registerSecret } from '@toolenv/core/secrets';
import { isOrphan, label } from '../container/owner.ts';
import { sandboxUsage } from '../sandbox-errors.ts';
import { withTimeout } from './in-time.ts';
import type { MachineService } from './machine.ts';
import { RemoteHost, usualPatience } from './remote-host.ts';
import { type RemoteOptions, remoteProperties } from './remote-options.ts';
import { whyFailed } from './why-failed.ts';

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
