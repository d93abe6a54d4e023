export {};
import { defineToolEnv, openEnv } from '@toolenv/core';

const parity = defineToolEnv({
  name: 'parity-v1',
  description: 'Even or odd?',
  tasks: { train: [4, 7] },
  rewards: { right: { kind: 'outcome' } },
  episode: ({ task }) => ({
    messages: `Is ${task} even or odd?`,
    onAnswer: (answer) => ({ rewards: { right: Number(answer === (task % 2 ? 'odd' : 'even')) }, end: 'answered' }),
  }),
  oracle: (task) => [task % 2 ? 'odd' : 'even'],
});
await using handle = await openEnv(parity); // make
const env = handle.episode();
const observation = await env.reset({ task: handle.tasks.train.get(1), seed: 1 });
const { outcome, rewards } = await env.step({ text: 'odd', toolCalls: [], stopReason: 'stop' });
console.log(observation.messages[0]!.content, outcome, rewards);
await env.close();
console.log('␞');
