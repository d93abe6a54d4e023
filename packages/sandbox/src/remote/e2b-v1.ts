/** The provider `e2b-v1`: machines of E2B, by its package `e2b`. */
import type { SandboxProvider } from '@toolenv/core/plugins';
import { E2bMachines, type E2bSandboxes } from './e2b-machines.ts';
import type { RemoteOptions } from './machine.ts';
import { remoteProvider } from './remote-provider.ts';

export interface E2bOptions extends RemoteOptions {
  template: string;
}

// Not a literal, because the package may be absent, and has its own types.
const client: string = 'e2b';

const e2b: SandboxProvider<E2bOptions> = remoteProvider({
  name: 'e2b-v1',
  description: 'Virtual machines of E2B. Needs the package e2b and a key in E2B_API_KEY.',
  properties: {
    template: {
      type: 'string',
      minLength: 1,
      default: 'base',
      description: 'name or id of a template, which sets memory, disk and cores',
    },
  },
  client: { name: client, version: '2' },
  load: async () => ((await import(client)) as { Sandbox: E2bSandboxes }).Sandbox,
  keyVariable: 'E2B_API_KEY',
  connect: (sandboxes, key, options: E2bOptions) => new E2bMachines(sandboxes, key, options),
});

export default e2b;
