/** An environment whose tool throws on a mistake of the model, or always if THROWS says so. */
import { defineTool, defineToolEnv } from '@toolenv/core';

export default defineToolEnv({
  name: 'throwing',
  description: 'Tell a balance.',
  tasks: { test: [1, 2, 3, 4] },
  rewards: { right: { kind: 'outcome' } },
  episode: () => ({
    messages: 'What is the balance?',
    tools: [
      defineTool('balance', 'Tell the balance.', { account: { type: 'integer' } }, ({ account }) => {
        if (account > 3 || process.env.THROWS === 'always') throw new Error('There is no such account');
        return '10';
      }),
    ],
    onAnswer: (answer) => ({ rewards: { right: Number(answer === '10') }, end: 'answered' }),
  }),
  oracle: (account) => [[{ name: 'balance', arguments: { account } }], '10'],
});
