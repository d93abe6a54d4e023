export {};
import { openEnv, playTask } from '@toolenv/core';
import sums from './sums-v1.ts';

await using env = await openEnv(sums, { lifetime: 'shared' });
const sum = [{ name: 'get-sum', arguments: { a: 30, b: 4 } }];
const { steps, rewards } = await playTask(env, env.tasks.test.get(0), [sum, '34']);
console.log(steps[0]!.calls[0]!.text, rewards);
console.log('␞');

import people from './people-v1.ts';

await using memory = await openEnv(people);
const create = { name: 'create_entities', arguments: { entities: [{ name: 'Kim', entityType: 'person', observations: [] }] } };
const kept = await playTask(memory, { name: 'Kim' }, [[create], 'Done.']);
const lost = await playTask(memory, { name: 'Kim' }, ['Done.']);
console.log(kept.reward, lost.reward);
console.log('␞');

import { fileURLToPath } from 'node:url';
import { defineMcpEnv } from '@toolenv/mcp';

const serverOf = (name: string) => ({
  command: process.execPath,
  args: [fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`))],
});
const both = defineMcpEnv({
  name: 'both-v1',
  servers: { sums: serverOf('server-everything'), thoughts: serverOf('server-sequential-thinking') },
  prefix: true,
  only: ['sums_get-sum', 'thoughts_sequentialthinking'],
  tasks: [{ prompt: 'What is 1 + 1?', answer: '2' }],
});
await using pair = await openEnv(both);
const episode = pair.episode();
const { tools } = await episode.reset({ task: pair.tasks.test.get(0), seed: 1 });
console.log(tools.map(({ name }) => name));
await episode.close();
console.log('␞');
