/** E2B's own client against a stand-in of its service. */
import { describe } from 'vitest';
import { E2bMachines } from '../src/remote/e2b-machines.ts';
import e2b from '../src/remote/e2b-v1.ts';
import { missing, remoteCases } from './remote-cases.ts';
import { e2bApi } from './stand-in/e2b-api.ts';

describe.skipIf(missing)(`e2b${missing ? ` (skipped: ${missing})` : ''}`, () => {
  remoteCases({
    provider: e2b,
    api: e2bApi,
    env: (url) => ({ E2B_API_KEY: e2bApi.key, E2B_API_URL: url, E2B_SANDBOX_URL: url }),
    connect: async (options) => new E2bMachines((await import('e2b')).Sandbox, e2bApi.key, options),
    create: /^POST \/v2\/sandboxes$/,
    exec: /Process\/Start$/,
    remove: /^DELETE /,
    shortestTtl: 3,
  });
});
