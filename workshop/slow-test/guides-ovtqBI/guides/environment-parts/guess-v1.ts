// guess-v1.ts
import { defineToolEnv } from '@toolenv/core';

export default defineToolEnv({
  name: 'guess-v1',
  description: 'Guess a number from 1 to 100.',
  limits: { maxTurns: 7 },
  tasks: { train: [23, 60, 88], test: [42, 7] },
  rewards: { found: { kind: 'outcome' } },
  episode: ({ task: number }) => ({
    messages: 'Guess my number from 1 to 100. Answer with the number alone.',
    onAnswer(answer) {
      if (Number(answer) === number) return { rewards: { found: 1 }, end: 'found' };
      return Number(answer) < number ? 'Higher.' : 'Lower.';
    },
  }),
  oracle: (number) => [String(number)],
});
