/** Serves the counter as a process of its own, on the port in its argument, and prints the URL. */
import { openEnv } from '@toolenv/core';
import { serveOpenEnv } from '@toolenv/openenv';
import { counter } from './counter-env.ts';

const env = await openEnv(counter);
const service = await serveOpenEnv(env, {
  port: Number(process.argv[2]),
  split: 'train',
  maxSessions: 2_000,
});
process.stdout.write(`${service.url}\n`);
