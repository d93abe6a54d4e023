/** An environment of one tool: press the switch as often as the task says, then answer. */
import { defineToolEnv, type Tool, text } from '@toolenv/core';

const press: Tool = {
  name: 'press',
  description: 'Press the switch.',
  inputSchema: { type: 'object', additionalProperties: false },
  timeout: 900,
  execute: async () => text('click'),
};

export default defineToolEnv({
  name: 'lamp',
  description: 'Press a switch',
  options: { properties: { size: { type: 'integer', minimum: 1, default: 30 } } },
  rewards: { em: { kind: 'outcome' }, tidy: { kind: 'outcome', weight: 0.5 } },
  limits: { maxTurns: 4, maxCallsPerTurn: 1, toolTimeout: 1000, maxToolCharacters: 100 },
  tasks({ options }) {
    const tasks = { length: options.size, get: (index: number) => ({ presses: index % 3 }) };
    return { train: tasks, validation: tasks, test: tasks };
  },
  episode({ task: { presses } }) {
    let left = presses;
    return {
      messages: `Press ${presses} times.`,
      tools: [press],
      onToolResults() {
        left -= 1;
      },
      onAnswer: () => ({ rewards: { em: Number(left === 0), tidy: Number(left >= 0) }, end: 'answered' }),
    };
  },
});
