/** An environment of which one episode can run at a time. */
import { defineTool, defineToolEnv } from '@toolenv/core';

const look = defineTool('look', 'Looks.', {}, () => 'nothing');

export default defineToolEnv({
  name: 'single-v1',
  description: 'One episode at a time.',
  capabilities: { concurrent: false },
  tasks: { train: ['a'], validation: ['a'], test: ['a', 'b'] },
  rewards: { right: { kind: 'outcome' } },
  episode: () => ({ messages: 'Look.', tools: [look] }),
});
