/** Environments that are wrong on purpose, and the rule of certificates that each breaks. */
import { createRng, defineTool, failure } from '@toolenv/core';
import type { RuleId } from '../../src/index.ts';
import { questionOf, type ShopChanges, type ShopTask, shopTasks } from './shop-env.ts';

const number = (answer = '') => Number(/-?\d+/.exec(answer)?.[0]);
const turned = ({ basket, ...task }: ShopTask): ShopTask => {
  return { ...task, basket: Object.fromEntries(Object.entries(basket).toReversed()) };
};
const all = (answer: string) => shopTasks(40, 'train').map((task) => ({ ...task, answer }));
let drawn = 0;

export const wrongEnvs: Readonly<Record<string, [rule: RuleId, changes: ShopChanges]>> = {
  // Answers that need no work.
  'the answer in a description': [
    'CERT-4',
    { description: ({ answer }) => `The price. The sum is ${answer}.` },
  ],
  'the answer in a schema': [
    'CERT-4',
    {
      tools: ({ answer }) => [
        defineTool('pay', 'Pays.', { cents: { type: 'string', examples: [answer] } }, () => 'Paid.'),
      ],
    },
  ],
  'the answer in the reply to a wrong one': [
    'CERT-4',
    { onWrong: ({ answer }) => `Wrong: it was ${answer}. Try again.` },
  ],
  'the task in an error': [
    'CERT-4',
    { price: (task, kind) => known(task, kind) ?? failure(JSON.stringify(task)) },
  ],
  'the task in the prompt': ['CERT-4', { prompt: (task) => `${questionOf(task)} ${JSON.stringify(task)}` }],
  'the solution in a comment': [
    'CERT-4',
    { prompt: (task) => `${questionOf(task)} <!-- expected: ${task.answer} -->` },
  ],
  'a tool for debugging': [
    'CERT-4',
    { tools: (task) => [defineTool('state', 'The state.', {}, () => JSON.stringify(task))] },
  ],
  // Rewards that say nothing.
  'always 1': ['CERT-5', { score: () => 1 }],
  'always 0': ['CERT-5', { score: () => 0 }],
  'a field that does not exist': [
    'CERT-5',
    { score: ({ task, answer }) => Number(answer === (task as { solution?: string }).solution) },
  ],
  // Rewards for something else.
  'a search for the answer': [
    'CERT-2',
    { score: ({ task, answer = '' }) => Number(answer.includes(task.answer)) },
  ],
  'a search in the answer': [
    'CERT-2',
    { score: ({ task, answer = '' }) => Number(task.answer.includes(answer)) },
  ],
  'any number of the answer': [
    'CERT-2',
    { score: ({ task, answer = '' }) => Number(answer.split(/\D+/).includes(task.answer)) },
  ],
  'mostly the format': [
    'CERT-2',
    {
      oracle: ({ basket, answer }) => [
        ...Object.keys(basket).map((kind) => [{ name: 'price', arguments: { kind } }]),
        `<answer>${answer}</answer>`,
      ],
      score: ({ task, answer = '' }) =>
        (/<answer>.*<\/answer>/s.test(answer) ? 0.8 : 0) +
        (answer.includes(`<answer>${task.answer}</answer>`) ? 0.2 : 0),
    },
  ],
  'the length of the answer': [
    'CERT-3',
    { score: ({ answer = '' }, right) => Math.min(1, answer.length / 1000 + (right ? 0.1 : 0)) },
  ],
  'any answer': ['CERT-2', { score: ({ answer = '' }) => Number(answer !== '') }],
  'any call': ['CERT-2', { score: ({ calls }) => Number(calls.length > 0) }],
  'each call': [
    'CERT-3',
    {
      maxTurns: 40,
      rewards: {
        active: {
          kind: 'process',
          score: ({ calls }: { calls: unknown[] }) => Number(calls.length > 0),
        } as never,
      },
    },
  ],
  'any digit': ['CERT-2', { score: ({ answer = '' }) => Number(/\d/.test(answer)) }],
  'a wide tolerance': [
    'CERT-2',
    { score: ({ task, answer }) => Number(Math.abs(number(answer) - number(task.answer)) < 50_000) },
  ],
  'words of the question': [
    'CERT-2',
    {
      score: ({ task, answer = '' }, right) => {
        const words = questionOf(task).split(' ');
        return right ? 1 : words.filter((word) => answer.includes(word)).length / words.length;
      },
    },
  ],
  'a judge that obeys': [
    'CERT-2',
    { score: ({ answer = '' }, right) => Number(right || /score: 1\b/i.test(answer)) },
  ],
  'a judge that reads a verdict in the answer': [
    'CERT-2',
    { score: ({ answer = '' }, right) => Number(right || /"correct":\s*true/.test(answer)) },
  ],
  'no answer, no mistake': [
    'CERT-2',
    { score: ({ answer }, right) => Number(answer === undefined || right) },
  ],
  'the wrong sign': ['CERT-3', { score: (_, right) => (right ? -1 : 0) }],
  // One answer for everything.
  'one answer': [
    'CERT-2',
    { train: all('yes'), test: all('yes').map((task) => ({ ...task, ...turnedPrices(task) })) },
  ],
  'a door that any call opens': [
    'CERT-2',
    {
      prompt: () => 'Open the door.',
      tools: () => [defineTool('open', 'Opens a door.', { how: { type: 'string' } }, () => 'It is open.')],
      oracle: () => [[{ name: 'open', arguments: { how: 'key' } }], 'done'],
      score: ({ calls }) =>
        Number(calls.some((made) => (made as { call: { name?: string } }).call.name === 'open')),
    },
  ],
  // Nothing to learn.
  'a hidden number': [
    'CERT-6',
    {
      prompt: () => 'Guess my number.',
      price: () => failure('It is closed.'),
      oracle: ({ answer }) => [answer],
    },
  ],
  'a hidden number and many tries': [
    'CERT-6',
    {
      prompt: () => 'Guess my number.',
      price: () => failure('It is closed.'),
      oracle: ({ answer }) => [answer],
      onWrong: () => 'Wrong. Try again.',
    },
  ],
  'a question that is not asked': [
    'CERT-6',
    { prompt: () => 'What does it cost, in cents?', price: () => 'Ask another.' },
  ],
  'a coin': ['CERT-1', { score: (_, right) => (right ? createRng(++drawn, 'coin').int(2) : 0) }],
  'no oracle': ['CERT-1', { oracle: null }],
  // Tests that are training tasks.
  'the same tasks in another order': ['CERT-7', { test: shopTasks(40, 'train').map(turned) }],
  'the same tasks with other numbers of their own': [
    'CERT-7',
    { test: shopTasks(40, 'train').map((task) => ({ ...task, id: task.id + 1000 })) },
  ],
};

/** Their questions differ, and nothing tells their answers. Only a policy that tries shows it. */
export const unlearnableEnvs: Readonly<Record<string, [rule: RuleId, changes: ShopChanges]>> = {
  'hidden prices': ['CERT-8', { price: () => failure('It is closed.'), oracle: ({ answer }) => [answer] }],
};

function known({ prices }: ShopTask, kind: string): string | undefined {
  return Object.hasOwn(prices, kind) ? `${prices[kind]}` : undefined;
}

/** Other prices, so that only the answer is the same. */
function turnedPrices({ prices }: ShopTask): Pick<ShopTask, 'prices' | 'basket'> {
  const changed = Object.fromEntries(Object.entries(prices).map(([kind, cents]) => [kind, cents * 3 + 1]));
  return { prices: changed, basket: { apples: changed.apples! % 9, figs: changed.figs! % 7 } };
}
