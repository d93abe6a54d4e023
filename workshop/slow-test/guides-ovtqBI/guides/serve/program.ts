export {};
import { openEnv } from '@toolenv/core';
import { connectMcp, serveMcp } from '@toolenv/mcp';

const env = await openEnv('@toolenv/envs-qa/bridge-v1');
const service = await serveMcp(env, { transport: { type: 'http', maxSessions: 50, idleTimeout: 600_000 } });

const client = await connectMcp({ url: service.url! }, { initialize: true });
console.log(client.tools.map(({ name }) => name).join(', '));

await client.close();
await service.close();
await env.close();
console.log('␞');

const token = 'a token of at least 16 characters'.replaceAll(' ', '-');
const open = await openEnv('@toolenv/envs-qa/bridge-v1');
const shared = await serveMcp(open, { transport: { type: 'http', token } });
const member = await connectMcp({ url: shared.url!, headers: { Authorization: `Bearer ${token}` } });
console.log(member.tools.length);
await member.close();
await shared.close();
await open.close();
console.log('␞');
