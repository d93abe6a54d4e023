/** Tools that break one rule each. All are changes of one valid tool. */
import { createRng, refuse, type Tool, ToolEnvError, type ToolResult, text } from '@toolenv/core';
import type { RuleId } from '../src/index.ts';

interface Arguments extends Record<string, unknown> {
  sides: number;
  label?: string;
}

/** Rolls a die. Refuses 13 sides, which its schema allows. */
export const die: Tool<Arguments, { roll: number }> = {
  name: 'roll',
  description: 'Roll a die.',
  inputSchema: {
    type: 'object',
    properties: {
      sides: { type: 'integer', minimum: 1, maximum: 20 },
      label: { type: 'string', maxLength: 9 },
    },
    required: ['sides'],
    additionalProperties: false,
  },
  outputSchema: { type: 'object', properties: { roll: { type: 'integer', minimum: 1 } }, required: ['roll'] },
  annotations: { readOnlyHint: true, openWorldHint: false },
  async execute({ sides }, { rng }) {
    if (sides === 13) return refuse({ path: '/sides', expected: 'a lucky number', received: '13' });
    const roll = 1 + rng.int(sides);
    return { content: [{ type: 'text', text: `rolled ${roll}` }], structuredContent: { roll } };
  },
};

type Change = (args: Arguments, result: ToolResult) => unknown;

/** Changes the result of the die. */
function rolling(change: Change): Partial<Tool<Arguments>> {
  return {
    execute: async (args, context) => change(args, await die.execute(args, context)) as ToolResult,
  };
}

/** Not Math.random, so that a failure of these tests repeats. */
const unseeded = createRng(1, 'unseeded');
let last = 0;

/** Timers left by a broken tool, for the test to clear. */
export const toolLeaks: ReturnType<typeof setInterval>[] = [];

export const brokenTools: readonly [what: string, rule: RuleId, change: Partial<Tool<Arguments>>][] = [
  ['a name with spaces', 'TOOL-1', { name: 'roll a die' }],
  ['a name with a dot', 'TOOL-1', { name: 'dice.roll' }],
  ['a name of 65 characters', 'TOOL-1', { name: 'd'.repeat(65) }],
  ['no description', 'TOOL-1', { description: ' ' }],
  ['an input schema of an array', 'TOOL-2', { inputSchema: { type: 'array' } }],
  [
    'an invalid input schema',
    'TOOL-2',
    { inputSchema: { type: 'object', properties: { sides: { type: 'int' } } } },
  ],
  [
    'an example that the input schema refuses',
    'TOOL-14',
    {
      inputSchema: {
        type: 'object',
        properties: { sides: { type: 'integer', minimum: 1, maximum: 12 } },
        required: ['sides'],
      },
    },
  ],
  [
    'data that breaks the output schema',
    'TOOL-3',
    rolling(() => ({ content: [], structuredContent: { roll: 0 } })),
  ],
  ['a result without its structured content', 'TOOL-3', rolling(() => text('rolled'))],
  ['a string as the result', 'TOOL-4', rolling(() => 'rolled 3')],
  [
    'an image without a MIME type',
    'TOOL-4',
    rolling((_, result) => ({ ...result, content: [{ type: 'image', data: '' }] })),
  ],
  [
    'a date in the data',
    'TOOL-5',
    rolling((_, { content }) => ({ content, structuredContent: { roll: 1, at: new Date(0) } })),
  ],
  [
    'an exception for a call that the schema allows',
    'TOOL-6',
    rolling(({ sides }, result) => {
      if (sides > 10) throw new RangeError('no such die');
      return result;
    }),
  ],
  [
    'an infrastructure fault',
    'TOOL-6',
    {
      execute: async () => {
        throw new ToolEnvError('infrastructure.dice', 'The dice are lost.');
      },
    },
  ],
  [
    'arguments that are changed',
    'TOOL-7',
    rolling((args, result) => {
      args.sides += 1;
      return result;
    }),
  ],
  [
    'a wait that ignores its signal',
    'TOOL-8',
    {
      execute: async (args, context) => {
        await new Promise((resolve) => setTimeout(resolve, context.signal.aborted ? 1000 : 1));
        return die.execute(args, context);
      },
    },
  ],
  [
    'unseeded randomness',
    'TOOL-9',
    rolling((_, { content }) => ({ content, structuredContent: { roll: 1 + unseeded.int(1000) } })),
  ],
  [
    'state shared by calls',
    'TOOL-10',
    {
      execute: async (_, context) => {
        last = context.callIndex + 1;
        await new Promise((resolve) => setTimeout(resolve, 1));
        return { content: [], structuredContent: { roll: last } };
      },
    },
  ],
  ['a refusal without isError', 'TOOL-11', rolling((_, result) => ({ ...result, isError: undefined }))],
  [
    'a refusal without a path',
    'TOOL-11',
    rolling((_, { mistake, ...result }) => ({ ...result, mistake: mistake && { expected: 'luck' } })),
  ],
  ['a limit of time that is no number', 'TOOL-12', { timeout: '5s' as never }],
  [
    'a call that never settles',
    'TOOL-12',
    {
      execute: async (args, context) => {
        context.signal.throwIfAborted();
        if (args.sides <= 10) return die.execute(args, context);
        return new Promise((_, reject) => context.signal.addEventListener('abort', reject));
      },
    },
  ],
  [
    'a timer that is never cleared',
    'TOOL-13',
    rolling((_, result) => {
      toolLeaks.push(setInterval(() => {}, 100_000));
      return result;
    }),
  ],
  [
    'a wait that is not cut short',
    'WARN-7',
    {
      execute: async (args, context) => {
        if (context.callIndex === 0) await new Promise((resolve) => setTimeout(resolve, 150));
        return die.execute(args, context);
      },
    },
  ],
];
