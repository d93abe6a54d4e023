/** A bank with three tools. The balances at the end of the episode decide the reward. */
import { isDeepStrictEqual } from 'node:util';
import { createRng, defineTool, defineToolEnv, failure } from '@toolenv/core';

const owner = { enum: ['Ada', 'Ben'] } as const;
const euros = { type: 'integer', minimum: 1 } as const;

function drawTask(seed: number, split: string, index: number) {
  const rng = createRng(seed, split, index);
  const [amount, Ada, Ben] = [1 + rng.int(500), rng.int(700), rng.int(700)];
  const loans = amount > Ada ? [{ name: 'lend', arguments: { owner: 'Ada' } }] : [];
  const calls = [...loans, { name: 'transfer', arguments: { from: 'Ada', to: 'Ben', amount } }];
  const gold = { Ada: Ada + 500 * loans.length - amount, Ben: Ben + amount };
  return { amount, balances: { Ada, Ben }, calls, gold };
}

export default defineToolEnv({
  name: 'bank-v1',
  description: 'Transfer money, with a loan where it is needed.',
  tasks: ({ seed }) => ({
    train: { length: 1000, get: (index) => drawTask(seed, 'train', index) },
    test: { length: 100, get: (index) => drawTask(seed, 'test', index) },
  }),
  state: ({ task }) => ({ ...task.balances }),
  rewards: {
    paid: { kind: 'outcome', score: ({ task, state }) => Number(isDeepStrictEqual(state, task.gold)) },
  },
  episode: ({ task: { amount }, state: balances }) => ({
    messages: `Send ${amount} euros from Ada to Ben. If Ada has too little, lend her 500 euros first.`,
    tools: [
      defineTool('look_up', 'Tell a balance.', { owner }, (args) => `${balances[args.owner]} euros`),
      defineTool('lend', 'Lend 500 euros.', { owner }, (args) => {
        balances[args.owner] += 500;
        return 'Done.';
      }),
      defineTool('transfer', 'Move money.', { from: owner, to: owner, amount: euros }, (args) => {
        if (balances[args.from] < args.amount) return failure('The balance is too low.');
        balances[args.from] -= args.amount;
        balances[args.to] += args.amount;
        return 'Done.';
      }),
    ],
  }),
  oracle: ({ calls }) => [...calls.map((call) => [call]), 'Done.'],
});
