export {};
import { defineTool, text } from '@toolenv/core';

const cents: Record<string, number> = { apple: 30, pear: 45 };

const price = defineTool({
  name: 'price',
  description: 'The price of some fruit, in cents.',
  inputSchema: {
    type: 'object',
    properties: { fruit: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
    required: ['fruit', 'count'],
    additionalProperties: false,
  },
  async execute({ fruit, count }) {
    const each = cents[fruit];
    if (each === undefined) return { ...text(`There is no ${fruit}.`), isError: true };
    return text(String(count * each));
  },
});
console.log('␞');

import { createRng } from '@toolenv/core';
import { dispatch } from '@toolenv/core/tools';

const limits = { maxTurns: 10, maxCallsPerTurn: 8, toolTimeout: 1000, maxToolCharacters: 1000 };
const calls = [
  { id: '1', name: 'price', arguments: { fruit: 'apple', count: 3 } },
  { id: '2', name: 'price', arguments: { fruit: 'kiwi', count: 3 } },
  { id: '3', name: 'price', arguments: { fruit: 'apple', count: 0 } },
];
const records = await dispatch(calls, [price], { limits, episodeId: 'try', seed: 1, firstCallIndex: 0 });
for (const { text } of records) console.log(text);
console.log('␞');

import { z } from 'zod';

const basket = defineTool({
  name: 'basket',
  description: 'The price of a whole basket, in cents.',
  inputSchema: z.object({
    fruits: z.array(z.enum(['apple', 'pear'])).min(1),
    discount: z.number().min(0).max(1).default(0),
  }),
  execute: async ({ fruits, discount }) => {
    const sum = fruits.reduce((total, fruit) => total + cents[fruit]!, 0);
    return { ...text(String(sum * (1 - discount))), structuredContent: { sum, discount } };
  },
});
console.log(Object.keys(basket.inputSchema.properties as object));
console.log('␞');

import { setTimeout } from 'node:timers/promises';
import { refuse } from '@toolenv/core';

const dice = defineTool({
  name: 'roll',
  description: 'Roll some dice and add them up.',
  inputSchema: {
    type: 'object',
    properties: { dice: { type: 'string', pattern: '^\\d+d\\d+$', description: 'such as 2d6' } },
    required: ['dice'],
  },
  async execute({ dice }, { rng, signal }) {
    const [count, sides] = dice.split('d').map(Number) as [number, number];
    if (count > 100 || sides < 1) return refuse({ path: '/dice', expected: 'at most 100 dice with sides', received: dice });
    await setTimeout(1, undefined, { signal });
    let sum = 0;
    for (let i = 0; i < count; i++) sum += 1 + rng.int(sides);
    return text(String(sum));
  },
});
const context = { signal: new AbortController().signal, rng: createRng(7), episodeId: 'try', callIndex: 0 };
console.log((await dice.execute({ dice: '2d6' }, context)).content);
console.log('␞');

import { assertConforms, checkTool } from '@toolenv/testing';

const { passed } = await assertConforms(checkTool(() => dice, { calls: 20 }));
console.log(`${passed.length} rules hold`);
console.log('␞');

import { openEnv } from '@toolenv/core';
import search from './search-v1.ts';

await assertConforms(checkTool(search));
const env = await openEnv('@toolenv/envs-qa/bridge-v1', {}, { tools: { search } });
await env.close();
console.log('␞');
