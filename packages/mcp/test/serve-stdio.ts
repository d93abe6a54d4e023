/** Serves the door environment over stdio. */
import { openEnv } from '@toolenv/core';
import { serveMcp } from '@toolenv/mcp';
import { doors } from './door-env.ts';

const env = await openEnv(doors);
const service = await serveMcp(env);
await service.closed;
await env.close();
