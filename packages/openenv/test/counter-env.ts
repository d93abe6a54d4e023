/** An environment for tests: counts to the number of its task. */
import { defineTool, defineToolEnv, type EnvDefinition, type EnvLimits } from '@toolenv/core';

export const counter: EnvDefinition<number, EnvLimits> = defineToolEnv({
  name: 'counter-v1',
  description: 'A counter.',
  tasks: { train: [1, 2, 3] },
  rewards: { counted: { kind: 'outcome' } },
  episode({ task }) {
    let count = 0;
    const add = defineTool({
      name: 'add',
      description: 'Adds to the count.',
      inputSchema: { properties: { by: { type: 'integer', minimum: 1, maximum: 9 } }, required: ['by'] },
      execute({ by }) {
        count += Number(by);
        return String(count);
      },
    });
    return {
      messages: `Count to ${task}.`,
      tools: [add],
      onAnswer: () => ({ rewards: { counted: Number(count === task) }, end: 'answered' }),
    };
  },
});
