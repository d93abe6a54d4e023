/** Attacks on constrained calls, by the schemas of tools. */
import { join } from 'node:path';
import { createRng, type JsonSchema, type Rng, ToolEnvError } from '@toolenv/core';
import { Chat, drawToken, readCheckpoint } from '@toolenv/policy';
import { type Attack, holds } from './attack.ts';

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
const expected = 'within two seconds, a call that is limited, or an error that names the remedy';

const deep = (levels: number, inner: JsonSchema): JsonSchema => {
  let schema = inner;
  for (let level = 0; level < levels; level++)
    schema = { type: 'object', properties: { a: schema }, required: ['a'] };
  return schema;
};
const twice = (times: number): JsonSchema =>
  Array.from({ length: times }).reduce<JsonSchema>((schema) => ({ allOf: [schema, schema] }), {
    anyOf: [{}, { title: 'b' }],
  });
const many = (count: number, of: (index: number) => JsonSchema) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, of(i)]));
const lists = (kinds: number): JsonSchema => ({
  properties: { a: { $ref: '#/$defs/l' } },
  required: ['a'],
  $defs: {
    l: {
      anyOf: Array.from({ length: kinds }, (_, i) => ({
        type: 'array',
        items: { $ref: '#/$defs/l' },
        maxItems: 9 + i,
      })),
    },
  },
});

const schemas: Record<string, JsonSchema> = {
  '5,000 levels': deep(5_000, {}),
  '60 levels': deep(60, {}),
  'twelve doublings of alternatives': twice(12),
  'a loop of references': {
    $ref: '#/$defs/a',
    $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
  },
  '19,000 properties': { properties: many(19_000, () => ({ type: 'integer' })) },
  '100,000 listed values': { properties: { a: { enum: Array.from({ length: 100_000 }, (_, i) => `${i}`) } } },
  'lists of 500 kinds in each other': lists(500),
  'a string of at least a billion characters': {
    properties: { a: { type: 'string', minLength: 1e9 } },
    required: ['a'],
  },
  'a property __proto__': JSON.parse(
    '{"properties": {"__proto__": {"type": "integer"}}, "required": ["__proto__"]}',
  ),
};

export const calls: Attack[] = [
  ...Object.entries(schemas).map(
    ([name, inputSchema]): Attack => ({
      name: `constrained call with ${name}`,
      attack: `a tool's schema has ${name}`,
      expected,
      run: async () => {
        const draw = await opened();
        const started = performance.now();
        draw(inputSchema, createRng(1, name));
        const milliseconds = performance.now() - started;
        holds(milliseconds < 2_000, `took ${milliseconds.toFixed(0)} ms`);
      },
    }),
  ),
  {
    name: 'constrained calls with random schemas',
    attack: 'tools have 1,000 schemas of random keywords with random values',
    expected,
    async run() {
      const draw = await opened();
      for (let index = 0; index < 1_000; index++) {
        const rng = createRng(1, 'schema', index);
        const inputSchema = randomSchema(rng, 4) as JsonSchema;
        const started = performance.now();
        draw(inputSchema, rng);
        const milliseconds = performance.now() - started;
        holds(milliseconds < 2_000, `${JSON.stringify(inputSchema)} took ${milliseconds.toFixed(0)} ms`);
      }
    },
  },
];

/** Draws the first 40 tokens of a call, all of them equally likely. */
async function opened(): Promise<(inputSchema: JsonSchema, rng: Rng) => void> {
  const { config, ...files } = await readCheckpoint(checkpoint);
  const chat = new Chat(files);
  const size = config.vocab_size;
  const equal = new Float32Array(size).fill(1 / size);
  return (inputSchema, rng) => {
    try {
      const limit = chat.constrainCalls([{ name: 'take', description: '', inputSchema }], size);
      for (const token of chat.encode('<tool_call>{"name": "take", "arguments": ')) limit.accept(token);
      for (let count = 0; count < 40; count++) {
        const { token } = drawToken(equal, { temperature: 1, limit }, rng);
        if (chat.endTokens.includes(token)) return;
        limit.accept(token);
      }
    } catch (error) {
      const isClear = ToolEnvError.isInstance(error) && error.code === 'usage.constrain_calls';
      if (!isClear || !/leave constrainCalls out/.test(error.message)) throw error;
    }
  };
}

const keywords =
  'type properties required additionalProperties items prefixItems minItems maxItems minLength maxLength enum const anyOf oneOf allOf $ref $defs'.split(
    ' ',
  );
const values: readonly unknown[] = [
  ...['string', 'object', 'array', 'integer', '#', '#/$defs/a', '#/properties/a', '', '😀"\\'],
  ...[0, 1, -1, 3, 1e9, 0.5, null, true, false, [], {}, ['a'], ['object', 'null'], [[]]],
];

/** JSON that is mostly a schema. */
function randomSchema(rng: Rng, depth: number): unknown {
  if (depth === 0 || rng.int(8) === 0) return rng.pick(values);
  const inner = () => randomSchema(rng, depth - 1);
  const chosen = keywords.filter(() => rng.int(5) === 0);
  return Object.fromEntries(
    chosen.map((keyword) => {
      const kind = rng.int(6);
      if (kind === 0) return [keyword, rng.pick(values)];
      if (/^(properties|\$defs)$/.test(keyword)) return [keyword, { a: inner(), b: inner() }];
      if (/Of$|prefix/.test(keyword)) return [keyword, [inner(), inner()]];
      if (/tems$|additional/.test(keyword) && !/^m/.test(keyword)) return [keyword, inner()];
      return [keyword, rng.pick(values)];
    }),
  );
}
