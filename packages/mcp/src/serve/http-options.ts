/** HttpOptions: how an environment is served over HTTP. The schema has the defaults, and gives `toolenv serve` its flags. */
import type { OptionsOf } from '@toolenv/core/schemas';
import { serveProperties } from '@toolenv/serving';

const own = {
  reconnectTimeout: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 2_147_483_647,
    default: 5_000,
    milliseconds: true,
    description: 'time for a client to return after its connection breaks, before its session ends',
  },
  controlToken: {
    type: 'string',
    description:
      'bearer token of the orchestrator, which opens episodes and reads rewards at /episodes; each agent then needs the URL of its episode',
  },
  publicUrl: {
    type: 'string',
    description:
      'URL at which agents reach this server, for example of a proxy; the URLs of episodes begin with it (default: its address)',
  },
} as const;

export const httpOptionsSchema: {
  readonly type: 'object';
  readonly properties: typeof serveProperties & typeof own;
} = { type: 'object', properties: { ...serveProperties, ...own } };

/** Times are in milliseconds. */
export type HttpOptions = Partial<OptionsOf<typeof httpOptionsSchema>>;
