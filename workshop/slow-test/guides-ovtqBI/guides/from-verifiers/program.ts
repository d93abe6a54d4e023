export {};
import { defineToolEnv } from '@toolenv/core';

export const addition = defineToolEnv({
  name: 'addition-v1',
  description: 'Add a number to itself.',
  options: { properties: { tasks: { type: 'integer', minimum: 1, default: 100, description: 'number of tasks' } } }, // TasksetConfig
  tasks: ({ options }) => ({ train: { length: options.tasks, get: (i) => ({ question: `${i} + ${i}`, sum: 2 * i }) } }), // load
  rewards: { exact: { kind: 'outcome', score: ({ answer, task }) => Number(answer === String(task.sum)) } }, // @vf.reward
  episode: ({ task }) => ({ messages: `What is ${task.question}?` }), // TaskData.prompt
  oracle: ({ sum }) => [String(sum)],
});
console.log('␞');
