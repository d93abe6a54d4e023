/** Environments that are right, before an author makes a mistake in one of them. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
export const sum = `
import { defineTool, defineToolEnv } from '@toolenv/core';

const add = defineTool('add', 'Add two numbers.', { a: { type: 'number' }, b: { type: 'number' } }, ({ a, b }) => String(a + b));

export default defineToolEnv({
  name: 'sum-v1',
  description: 'Add two numbers.',
  limits: { maxTurns: 4 },
  tasks: { train: [{ a: 1, b: 2 }, { a: 3, b: 4 }, { a: 5, b: 7 }], test: [{ a: 2, b: 9 }] },
  rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === String(task.a + task.b)) } },
  episode: ({ task }) => ({ messages: \`What is \${task.a} + \${task.b}?\`, tools: [add] }),
  oracle: ({ a, b }) => [[{ name: 'add', arguments: { a, b } }], String(a + b)],
});
`;

export const guess = `
import { defineToolEnv } from '@toolenv/core';

export default defineToolEnv({
  name: 'guess-v1',
  description: 'Guess a number from 1 to 9.',
  limits: { maxTurns: 6 },
  tasks: { train: [2, 5, 8], test: [3, 9] },
  rewards: { found: { kind: 'outcome' } },
  episode: ({ task: number }) => ({
    messages: 'Guess my number.',
    onAnswer(answer) {
      if (Number(answer) === number) return { rewards: { found: 1 }, end: 'found' };
      return Number(answer) < number ? 'Higher.' : 'Lower.';
    },
  }),
  oracle: (number) => [String(number)],
});
`;

export const price = `
import { defineToolEnv } from '@toolenv/core';

export default defineToolEnv({
  name: 'price-v1',
  description: 'Sell a lamp.',
  tasks: { train: [{ most: 40 }, { most: 50 }], test: [{ most: 60 }] },
  players: {
    buyer: {
      description: 'the buyer',
      play: 'plain',
      scripts: { plain: ({ task }, { messages }) => (Number(/\\d+/.exec(messages.at(-1)!.content)?.[0]) <= task.most ? 'Deal' : 'No') },
    },
  },
  rewards: { price: { kind: 'outcome' } },
  episode: ({ player }) => ({
    messages: 'Sell the lamp. Answer with a price.',
    async onAnswer(offer) {
      const price = Number(/\\d+/.exec(offer)?.[0] ?? 0);
      const { text } = await player('buyer').ask(\`The seller wants \${price}. Answer Deal or No.\`);
      if (!text.startsWith('Deal')) return \`The buyer says: \${text}\`;
      return { end: 'sold', rewards: { price: Math.min(price, 100) / 100 }, playerRewards: { buyer: { price: 1 - Math.min(price, 100) / 100 } } };
    },
  }),
  oracle: ({ most }) => [String(most)],
  best: ({ most }) => most / 100,
});
`;

export const capital = `
import { defineToolEnv } from '@toolenv/core';

export default defineToolEnv({
  name: 'capital-v1',
  description: 'Name a capital.',
  prompts: { system: 'Answer with the name alone.' },
  options: { properties: { shout: { type: 'boolean', default: false, description: 'whether to shout' } } },
  tasks: { train: [{ country: 'Peru', capital: 'Lima' }, { country: 'Kenya', capital: 'Nairobi' }] },
  rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === task.capital) } },
  episode: ({ task, prompt }) => ({
    messages: [
      { role: 'system', content: prompt('system') },
      { role: 'user', content: \`What is the capital of \${task.country}?\` },
    ],
  }),
  oracle: ({ capital }) => [capital],
});
`;
