import { toJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  createRng,
  defineTool,
  failure,
  type JsonSchema,
  refuse,
  type Tool,
  type ToolResult,
  text,
} from '../../src/index.ts';
import { type DispatchOptions, dispatch } from '../../src/tools/index.ts';
import { ladderLimits } from '../ladder-env.ts';

const options: DispatchOptions = {
  limits: { ...ladderLimits, maxCallsPerTurn: 9, maxToolCharacters: 2000 },
  episodeId: 'e',
  seed: 1,
  firstCallIndex: 0,
};
const context = { signal: new AbortController().signal, rng: createRng(1), episodeId: 'e', callIndex: 0 };
const about = { name: 'search', description: 'Find documents.' };

/** Calls `tool` as an environment does. */
async function answer(tool: Tool, args: Record<string, unknown>) {
  const [record] = await dispatch([{ id: 'c', name: tool.name, arguments: args }], [tool], options);
  return record!;
}

/** The schema in every library: a query of at least one character, and an integer with the default 3. */
type Search = { query: string; k: number };
type Sent = { query: string; k?: number | undefined };
const echo = async ({ query, k }: Search): Promise<ToolResult<never>> => text(`${query} ${k}`);

const valibotSchema = v.object({
  query: v.pipe(v.string(), v.minLength(1)),
  k: v.optional(v.pipe(v.number(), v.integer()), 3),
});
const libraries = {
  zod: defineTool({
    ...about,
    inputSchema: z.object({ query: z.string().min(1), k: z.number().int().default(3) }),
    execute: async (args) => {
      expectTypeOf(args).toEqualTypeOf<Search>();
      return echo(args);
    },
  }),
  valibot: defineTool({
    ...about,
    inputSchema: valibotSchema,
    jsonSchema: (schema) => toJsonSchema(schema, { target: 'draft-2020-12' }),
    execute: async (args) => {
      expectTypeOf(args).toEqualTypeOf<Search>();
      return echo(args);
    },
  }),
  arktype: defineTool({
    ...about,
    inputSchema: type({ query: 'string > 0', k: 'number.integer = 3' }),
    execute: async (args) => {
      expectTypeOf(args).toEqualTypeOf<Search>();
      return echo(args);
    },
  }),
};

describe.each(Object.entries(libraries))('a schema of %s', (_, tool) => {
  test('types the arguments and is shown to the model as JSON Schema', () => {
    expectTypeOf(tool.execute).parameter(0).toExtend<Sent>();
    expectTypeOf<{ query: string }>().toExtend<Parameters<typeof tool.execute>[0]>();
    expect(tool.inputSchema).toMatchObject({
      type: 'object',
      properties: { query: { type: 'string', minLength: 1 }, k: { type: 'integer' } },
      required: ['query'],
    });
    expect(tool.inputSchema).not.toHaveProperty('$schema');
  });

  test('fills in defaults before execute', async () => {
    expect((await answer(tool, { query: 'x' })).text).toBe('x 3');
    expect((await answer(tool, { query: 'x', k: 7 })).text).toBe('x 7');
    expect((await tool.execute({ query: 'y' }, context)).content).toEqual([{ type: 'text', text: 'y 3' }]);
  });

  test('refuses wrong arguments as the model’s mistake', async () => {
    const { mistake, result } = await answer(tool, { query: 'x', k: 'many' });
    expect(mistake).toMatchObject({ code: 'invalid_arguments', path: '/k', received: '"many"' });
    expect(mistake!.expected).toBe('must be integer');
    expect(mistake!.hint).toContain('Arguments of "search" follow {');
    expect(result).toBeUndefined();
  });

  test('is assignable to Tool', () => {
    expectTypeOf(tool).toExtend<Tool>();
  });
});

test('checks refinements that JSON Schema cannot express, and reports them in the same form', async () => {
  const range = defineTool({
    name: 'range',
    description: 'Count.',
    inputSchema: z
      .object({ span: z.object({ from: z.number(), 'to/until': z.number() }) })
      .refine(({ span }) => span.from <= span['to/until'], {
        path: ['span', 'to/until'],
        message: 'not below "from"',
      }),
    execute: async ({ span }) => text(String(span['to/until'] - span.from)),
  });
  expect((await answer(range, { span: { from: 1, 'to/until': 3 } })).text).toBe('2');
  const { mistake, result, text: message } = await answer(range, { span: { from: 3, 'to/until': 1 } });
  expect(mistake).toMatchObject({
    code: 'invalid_arguments',
    path: '/span/to~1until',
    expected: 'not below "from"',
    received: '1',
  });
  expect(message).toMatch(
    /^Error \(invalid_arguments\) at \/span\/to~1until: expected not below "from"; received 1\. Arguments of "range"/,
  );
  expect(result).toBeUndefined();
});

test('awaits asynchronous refinements, and passes transformed arguments to execute', async () => {
  const schema = z.object({ day: z.string().transform(Number) }).refine(async ({ day }) => day < 32);
  const tool = defineTool({
    name: 'day',
    description: 'A day.',
    inputSchema: schema,
    execute: async ({ day }) => {
      expectTypeOf(day).toEqualTypeOf<number>();
      return text(`${typeof day} ${day}`);
    },
  });
  expectTypeOf(tool.execute).parameter(0).toEqualTypeOf<{ day: string }>();
  expect((await answer(tool, { day: '7' })).text).toBe('number 7');
  expect((await answer(tool, { day: '70' })).mistake).toMatchObject({ code: 'invalid_arguments', path: '' });
});

test('a tool may refuse arguments itself', async () => {
  const open = defineTool({
    name: 'open',
    description: 'Open a page.',
    inputSchema: { type: 'object', properties: { page: { type: 'integer' } }, required: ['page'] },
    execute: async ({ page }) => {
      expectTypeOf(page).toEqualTypeOf<number>();
      return page < 10
        ? text('…')
        : refuse({ path: '/page', expected: 'a page below 10', received: `${page}` });
    },
  });
  const { mistake, result } = await answer(open, { page: 12 });
  expect(mistake).toMatchObject({ code: 'invalid_arguments', path: '/page', expected: 'a page below 10' });
  expect(result).toBeUndefined();
  expect((await answer(open, { page: 2 })).result).toEqual(text('…'));
});

test('suggests the nearest name or value for a misspelling', async () => {
  const tool = defineTool({
    name: 'list',
    description: 'List.',
    inputSchema: {
      type: 'object',
      properties: { order: { enum: ['ascending', 'descending'] }, query: { type: 'string' } },
      required: ['query'],
      additionalProperties: false,
    },
    execute: async ({ order, query }) => {
      expectTypeOf(order).toEqualTypeOf<'ascending' | 'descending' | undefined>();
      return text(`${query} ${order}`);
    },
  });
  const name = (await answer(tool, { qeury: 'x' })).mistake!;
  expect(name).toMatchObject({ path: '/qeury', received: '"x"' });
  expect(name.hint).toMatch(/^Did you mean "query"\? Arguments of "list"/);
  const value = (await answer(tool, { query: 'x', order: 'asending' })).mistake!;
  expect(value).toMatchObject({ path: '/order', received: '"asending"' });
  expect(value.hint).toMatch(/^Did you mean "ascending"\?/);
  const far = (await answer(tool, { query: 'x', order: 'random' })).mistake!;
  expect(far.hint).toMatch(/^Arguments of "list"/);
});

test('requires jsonSchema if the library cannot provide one', () => {
  const declare = () =>
    defineTool({ ...about, inputSchema: valibotSchema, execute: async ({ query }) => text(query) });
  expect(declare).toThrow(
    'Tool "search": valibot provides no JSON Schema: pass a JSON Schema, or a function that makes it',
  );
  const dated = { ...about, inputSchema: z.object({ day: z.date() }), execute: async () => text('') };
  expect(() => defineTool(dated)).toThrow(
    /Tool "search": zod cannot express this schema as JSON Schema \(Date cannot .*\): pass a JSON Schema/,
  );
  const jsonSchema = { type: 'object', properties: { day: { type: 'string' } } };
  expect(defineTool({ ...dated, jsonSchema }).inputSchema).toEqual(jsonSchema);
  const older = defineTool({
    ...about,
    inputSchema: valibotSchema,
    jsonSchema: toJsonSchema,
    execute: async () => text(''),
  });
  expect(older.inputSchema.$schema).toBe('http://json-schema.org/draft-07/schema#');
});

test('refuses a schema that does not describe an object', () => {
  const execute = async () => text('');
  const message = 'Tool "search": its inputSchema is of type "string": wrap it in an object.';
  expect(() => defineTool({ ...about, inputSchema: { type: 'string' }, execute })).toThrow(message);
  expect(() => defineTool({ ...about, inputSchema: z.string(), execute })).toThrow(message);
});

test('a literal JSON Schema types execute', () => {
  defineTool({
    ...about,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string' },
        k: { type: 'integer' },
        tags: { type: 'array', items: { type: ['string', 'null'] } },
        mode: { const: 'fast' },
        where: {
          type: 'object',
          properties: {
            year: { anyOf: [{ type: 'number' }, { enum: ['any', 7] }] },
            open: { type: 'boolean' },
          },
          required: ['year'],
        },
        free: {},
        pair: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } },
        map: { type: 'object' },
      },
      required: ['query', 'tags'],
    },
    execute: async (args) => {
      expectTypeOf(args).toEqualTypeOf<{
        query: string;
        tags: (string | null)[];
        k?: number;
        mode?: 'fast';
        where?: { year: number | 'any' | 7; open?: boolean };
        free?: unknown;
        pair?: unknown[];
        map?: Record<string, unknown>;
      }>();
      return text(args.query);
    },
  });
});

test('the short form requires every argument and allows no other', async () => {
  const parameters = { to: { enum: ['Ada', 'Ben'] }, amount: { type: 'integer', minimum: 1 } } as const;
  const transfer = defineTool('transfer', 'Send money.', parameters, async (args) => {
    expectTypeOf(args).toEqualTypeOf<{ to: 'Ada' | 'Ben'; amount: number }>();
    return text(`${args.amount} to ${args.to}`);
  });
  expectTypeOf(transfer).toExtend<Tool>();
  expectTypeOf(transfer.execute).parameter(0).toEqualTypeOf<{ to: 'Ada' | 'Ben'; amount: number }>();
  expect(transfer.inputSchema).toEqual({
    type: 'object',
    properties: { to: { enum: ['Ada', 'Ben'] }, amount: { type: 'integer', minimum: 1 } },
    required: ['to', 'amount'],
    additionalProperties: false,
  });
  expect(transfer).toMatchObject({ name: 'transfer', description: 'Send money.' });
  expect((await answer(transfer, { to: 'Ben', amount: 3 })).text).toBe('3 to Ben');
  expect((await answer(transfer, { to: 'Ben' })).mistake).toMatchObject({ path: '/amount' });
  expect((await answer(transfer, { to: 'Ben', amount: 3, fee: 1 })).mistake).toMatchObject({ path: '/fee' });
  // @ts-expect-error there is no "from"
  defineTool('transfer', 'Send money.', { to: { type: 'string' } }, ({ from }) => from);
});

test('execute may return a text, and need not be asynchronous', async () => {
  const greet = defineTool('greet', 'Greet.', { name: { type: 'string' } }, ({ name }) =>
    name === '' ? failure('Who?') : `Hello, ${name}.`,
  );
  expect(await greet.execute({ name: 'Ada' }, context)).toEqual(text('Hello, Ada.'));
  expect(await greet.execute({ name: '' }, context)).toEqual({ ...text('Who?'), isError: true });
  expect((await answer(greet, { name: '' })).text).toBe('Error: Who?');
  const broken = defineTool('fail', 'Fail.', {}, (): string => {
    throw new Error('down');
  });
  await expect(broken.execute({}, context)).rejects.toThrow('down');
});

test('a schema that is not a literal leaves the arguments untyped unless their type is named', () => {
  interface Sides {
    sides: number;
  }
  const inputSchema: JsonSchema = { type: 'object' };
  const open = defineTool({
    ...about,
    inputSchema,
    execute: async (args) => {
      expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>();
      return text('');
    },
  });
  expectTypeOf(open).toExtend<Tool>();
  expect(open.inputSchema).toBe(inputSchema);
  const named = defineTool<Sides>({ ...about, inputSchema, execute: async ({ sides }) => text(`${sides}`) });
  expectTypeOf(named).toExtend<Tool>();
  expectTypeOf(named.execute).parameter(0).toEqualTypeOf<{ sides: number }>();
});

test('an execute that does not fit its schema is a type error', () => {
  const object = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] } as const;
  // @ts-expect-error "q" is a string
  defineTool({ ...about, inputSchema: object, execute: async ({ q }: { q: number }) => text(`${q}`) });
  // @ts-expect-error there is no "w"
  defineTool({ ...about, inputSchema: object, execute: async ({ w }) => text(w) });
  // @ts-expect-error a plain JSON Schema needs no other
  defineTool({ ...about, inputSchema: object, jsonSchema: object, execute: async () => text('') });
  const typed = defineTool({ ...about, inputSchema: object, execute: async ({ q }) => text(q) });
  // @ts-expect-error "q" is missing
  void typed.execute({}, context);
});

test('keeps the limit of time, and refuses one that is no number above 0', () => {
  const waits = (timeout: number) =>
    defineTool({ name: 'wait', description: 'Waits.', inputSchema: {}, timeout, execute: () => 'done' });
  expect(waits(500).timeout).toBe(500);
  for (const timeout of [0, -1, Number.NaN])
    expect(() => waits(timeout)).toThrow('give milliseconds above 0');
});
