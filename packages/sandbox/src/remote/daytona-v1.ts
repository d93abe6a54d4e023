/** The provider `daytona-v1`: machines of Daytona, by its package `@daytona/sdk`. */
import type { SandboxProvider } from '@toolenv/core/plugins';
import { type DaytonaClient, DaytonaMachines, type DaytonaOptions } from './daytona-machines.ts';
import { remoteProvider } from './remote-provider.ts';

// Not a literal, because the package may be absent, and has its own types.
const client: string = '@daytona/sdk';

/** The client, and the version that is tested. */
export const daytonaClient = { name: client, version: '0.216.0' } as const;

const size = { type: 'integer', minimum: 0, default: 0 } as const;

/** @param load Imports the client. */
export function daytonaProvider(load: () => Promise<unknown>): SandboxProvider<DaytonaOptions> {
  return remoteProvider({
    name: 'daytona-v1',
    description: 'Machines of Daytona. Needs the package @daytona/sdk and a key in DAYTONA_API_KEY.',
    properties: {
      snapshot: { type: 'string', default: '', description: "name of a snapshot; default: Daytona's" },
      image: { type: 'string', default: '', description: 'image to begin with, in place of a snapshot' },
      cpu: { ...size, description: "cores, with image; 0: Daytona's default" },
      memory: { ...size, description: "GiB of memory, with image; 0: Daytona's default" },
      disk: { ...size, description: "GiB of files, with image; 0: Daytona's default" },
      url: {
        type: 'string',
        default: '',
        description:
          "URL of the API of a deployment of your own; default: that of DAYTONA_API_URL, Daytona's",
      },
    },
    client: daytonaClient,
    load: async () => ((await load()) as { Daytona: DaytonaClient }).Daytona,
    keyVariable: 'DAYTONA_API_KEY',
    connect: (daytona, key, options: DaytonaOptions) => new DaytonaMachines(daytona, key, options),
  });
}

const daytona: SandboxProvider<DaytonaOptions> = daytonaProvider(() => import(client));

export default daytona;
