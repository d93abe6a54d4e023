/** An environment whose episodes take a while, so that a worker can be killed in the middle of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineToolEnv } from '@toolenv/core';

export default defineToolEnv({
  name: 'slow-lamp-v1',
  description: 'Say anything, and wait.',
  options: { properties: { milliseconds: { type: 'integer', minimum: 0, default: 100 } } },
  rewards: { said: { kind: 'outcome' } },
  tasks() {
    const tasks = { length: 1_000, get: (index: number) => ({ index }) };
    return { train: tasks, validation: tasks, test: tasks };
  },
  episode: ({ options }) => ({
    messages: 'Press 0 times.',
    async onAnswer() {
      await sleep(options.milliseconds);
      return { rewards: { said: 1 }, end: 'answered' };
    },
  }),
});
