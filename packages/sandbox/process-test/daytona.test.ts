/** Daytona's own client against a stand-in of its service, by `npm run interop -- daytona`. */
import { describe } from 'vitest';
import { type DaytonaClient, DaytonaMachines } from '../src/remote/daytona-machines.ts';
import { daytonaProvider } from '../src/remote/daytona-v1.ts';
import { clientFolder, loadDaytona } from './load-daytona.ts';
import { missing, remoteCases } from './remote-cases.ts';
import { daytonaApi } from './stand-in/daytona-api.ts';

const absent = clientFolder === undefined ? 'npm run interop -- daytona installs the client' : missing;

describe.skipIf(absent)(`daytona${absent ? ` (skipped: ${absent})` : ''}`, () => {
  remoteCases({
    provider: daytonaProvider(loadDaytona),
    api: daytonaApi,
    env: (url) => ({ DAYTONA_API_KEY: daytonaApi.key, DAYTONA_API_URL: url }),
    connect: async (options) => {
      const { Daytona } = (await loadDaytona()) as { Daytona: DaytonaClient };
      return new DaytonaMachines(Daytona, daytonaApi.key, options);
    },
    create: /^POST \/sandbox$/,
    exec: /\/process\/execute$/,
    remove: /^DELETE /,
    shortestTtl: 60,
  });
});
