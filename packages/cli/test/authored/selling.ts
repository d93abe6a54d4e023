/** Sells a lamp to a buyer, with an oracle that lists its turns. */
import { defineToolEnv } from '@toolenv/core';

export default defineToolEnv({
  name: 'selling-v1',
  description: 'Sell a lamp.',
  tasks: { train: [4, 7] },
  players: {
    buyer: {
      description: 'the buyer',
      scripts: {
        plain: ({ task }, { messages }) => (messages.at(-1)!.content === `${task}` ? 'Deal' : 'No'),
      },
    },
  },
  rewards: { sold: { kind: 'outcome' } },
  limits: { maxTurns: 3 },
  episode: ({ player }) => ({
    messages: 'Name a price.',
    async onAnswer(price) {
      const { text } = await player('buyer').ask(price);
      return text === 'Deal' ? { end: 'sold', rewards: { sold: 1 } } : text;
    },
  }),
  oracle: (task) => [String(task)],
});
