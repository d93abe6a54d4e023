export {};
import { defineTool, defineToolEnv } from '@toolenv/core';

const heights: Record<string, number> = { Eiger: 3967, Jungfrau: 4158 };
const lookUp = defineTool('look_up', 'Height of a mountain.', { name: { type: 'string' } }, ({ name }) =>
  String(heights[name] ?? 'No such mountain.'),
);

export const higher = defineToolEnv({
  name: 'higher-v1',
  description: 'Which mountain is higher?',
  limits: { maxTurns: 4 },
  tasks: { train: [{ names: ['Eiger', 'Jungfrau'], answer: 'Jungfrau' }] },
  rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === task.answer) } },
  episode: ({ task }) => ({ messages: `Which is higher: ${task.names.join(' or ')}?`, tools: [lookUp] }),
  oracle: ({ names, answer }) => [names.map((name) => ({ name: 'look_up', arguments: { name } })), answer],
});
console.log('␞');

import { openEnv, playTask } from '@toolenv/core';

await using env = await openEnv(higher);
const task = env.tasks.train.get(0);
const { steps, rewards, outcome } = await playTask(env, task, higher.oracle!(task)!);
console.log(steps.length, rewards, outcome);
console.log('␞');
