/** serverOptionsSchema: what a run or a command says about MCP servers: flags of `toolenv tools` and `init`, options of environments. */

import type { OptionsOf } from '@toolenv/core/schemas';

/** Times are in milliseconds, and in seconds as flags. They have no defaults, so that the definition of an environment may set them. */
export const serverOptionsSchema = {
  type: 'object',
  properties: {
    only: {
      type: 'array',
      items: { type: 'string' },
      description: 'tools to offer, by name',
    },
    env: {
      type: 'array',
      items: { type: 'string' },
      repeated: 'NAME=value',
      description: `variable for servers that run as processes; \${NAME} in a value stands for a variable of toolenv's process`,
    },
    header: {
      type: 'array',
      items: { type: 'string' },
      repeated: 'Name: value',
      description: `header for servers at URLs; \${NAME} as in env`,
    },
    connectTimeout: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 2_147_483_647,
      milliseconds: true,
      description:
        'time for a server to start and list its tools (default: 30, or what the environment says)',
    },
    callTimeout: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 2_147_483_647,
      milliseconds: true,
      description:
        'time that a call may take without an answer or a progress report (default: no limit of its own)',
    },
    closeGrace: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 2_147_483_647,
      milliseconds: true,
      description: 'time that a server process has to end, before it is killed (default: 2)',
    },
    initialize: {
      type: 'boolean',
      description:
        'begin with `initialize`, as MCP 2025-11-25 does: for servers that ask their client for something only then',
    },
  },
} as const;

/** Options of a command or a run. */
export type ServerOptions = Partial<OptionsOf<typeof serverOptionsSchema>>;
