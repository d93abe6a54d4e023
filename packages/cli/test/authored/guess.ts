/** An environment with an oracle: find a number from 1 to 100, with replies or with a tool. */
import { defineTool, defineToolEnv } from '@toolenv/core';

const hint = (tried: number, number: number) =>
  tried === number ? 'Right.' : tried < number ? 'Higher.' : 'Lower.';

export default defineToolEnv({
  name: 'guess',
  description: 'Find a number.',
  limits: { maxTurns: 7 },
  tasks: { train: [23, 60, 88], test: [42, 7, 99, 4] },
  rewards: { found: { kind: 'outcome' } },
  episode: ({ task: number }) => ({
    messages: 'Find my number from 1 to 100.',
    tools: [
      defineTool('try', 'Try a number.', { number: { type: 'integer', minimum: 1, maximum: 100 } }, (args) =>
        hint(args.number, number),
      ),
    ],
    onAnswer(answer) {
      if (Number(answer) === number) return { rewards: { found: 1 }, end: 'found' };
      return hint(Number(answer), number);
    },
  }),
  // Of one task the answer is not known.
  oracle: (number) => (number === 4 ? undefined : [[{ name: 'try', arguments: { number } }], String(number)]),
});
