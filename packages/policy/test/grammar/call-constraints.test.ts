/** What a constrained call may be, by the keywords of its schema; and schemas, tools and vocabularies that are hard. */
import { createRng, type JsonSchema, type Rng } from '@toolenv/core';
import { describe, expect, test } from 'vitest';
import { CallConstraints } from '../../src/grammar/call-constraints.ts';
import { byteVocabulary, endToken, isAllowed, refused, specialToken } from './byte-calls.ts';

const object = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): JsonSchema => {
  return { type: 'object', properties, required: Object.keys(properties), ...more };
};
const of = (schema: JsonSchema): JsonSchema => object({ a: schema });
const recursive = {
  $ref: '#/$defs/tree',
  $defs: { tree: object({ next: { $ref: '#/$defs/tree' } }, { required: [] }) },
};
const nested = (levels: number) => `${'{"next":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;

test.each<[string, JsonSchema, string[], string[]]>([
  [
    'types',
    object({
      s: { type: 'string' },
      i: { type: 'integer' },
      n: { type: 'number' },
      b: { type: 'boolean' },
      z: { type: 'null' },
    }),
    [
      '{"s":"x","i":-7,"n":-0.5e-3,"b":true,"z":null}',
      '{ "z": null, "n": 0, "i": 0,\n  "b": false, "s": ""}',
    ],
    ['{"s":1', '{"i":1.', '{"i":01', '{"n":.5', '{"n":1e999', '{"b":1', '{"z":n}', '{"x"', '{}', '{"s":"",}'],
  ],
  [
    'properties in any order, each once',
    object({ a: {}, b: {} }, { required: ['b'] }),
    ['{"b":1}', '{"b":1,"a":[]}', '{"a":{"x":[null]},"b":1}'],
    ['{"a":1}', '{"b":1,"b"', '{"b":1,"c"', '{"b":1,}'],
  ],
  [
    'white space of limited length',
    object({}),
    ['{}', '{ }', '{\n\n\t }'],
    ['{  ', '{\n\n\n', `{\n${' '.repeat(21)}`],
  ],
  [
    'an object without a list of properties',
    {},
    ['{}', '{"x":1}', '{"":{"y":[{}, "z"]},"😀":1}'],
    ['[', '1', '"', '{"a":1,'],
  ],
  ['an empty list of properties', { properties: {} }, ['{}'], ['{"']],
  [
    'other properties of a schema',
    object({ ab: { type: 'string' } }, { additionalProperties: { type: 'integer' } }),
    ['{"ab":"x"}', '{"a":1,"ab":"x","abc":2,"é":3}'],
    ['{"ab":1', '{"x":"', '{"\\u0061b":1'],
  ],
  [
    'required properties that are not listed',
    { type: 'object', required: ['q'], properties: { a: {} } },
    ['{"q":1}'],
    ['{"a":1}', '{}'],
  ],
  [
    'odd strings',
    of({ enum: ['"q"', '\\', '😀', '\n\u0001', '</tool_call>', 'a.*'] }),
    [
      '{"a":"\\"q\\""}',
      '{"a":"\\\\"}',
      '{"a":"😀"}',
      '{"a":"\\n\\u0001"}',
      '{"a":"\\u003c/tool_call>"}',
      '{"a":"a.*"}',
    ],
    ['{"a":"q', '{"a":"</', '{"a":"ab', '{"a":""'],
  ],
  [
    'listed values of a type',
    of({ type: ['integer', 'null'], enum: [1, 'x', null, 2.5] }),
    ['{"a":1}', '{"a":null}'],
    ['{"a":"x', '{"a":2'],
  ],
  ['a constant', of({ const: { k: [1, 'v'] } }), ['{"a":{"k":[1,"v"]}}'], ['{"a":{}', '{"a":{"k":[1]']],
  [
    'lengths in characters',
    of({ type: 'string', minLength: 2, maxLength: 3 }),
    ['{"a":"😀é"}', '{"a":"abc"}', '{"a":"\\n\\u00e9x"}'],
    ['{"a":"a"', '{"a":"abcd'],
  ],
  [
    'items',
    of({ type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 3 }),
    ['{"a":[1]}', '{"a":[ 1, 2 , 3]}'],
    ['{"a":[]', '{"a":[1,2,3,', '{"a":[1 2', '{"a":["', '{"a":[1,]'],
  ],
  [
    'first items',
    of({ type: 'array', prefixItems: [{ type: 'string' }, { const: 1 }], items: false }),
    ['{"a":[]}', '{"a":["x"]}', '{"a":["x",1]}'],
    ['{"a":[1', '{"a":["x",2', '{"a":["x",1,'],
  ],
  ['many items', of({ type: 'array', items: { type: 'string' } }), ['{"a":["x","y","z"]}'], ['{"a":["x" "y']],
  [
    'alternatives',
    of({ anyOf: [{ type: 'string' }, object({ k: { const: 1 } }), object({ k: { const: 2 }, l: {} })] }),
    ['{"a":"x"}', '{"a":{"k":1}}', '{"a":{"k":2,"l":0}}'],
    ['{"a":{"k":3', '{"a":{"k":2}', '{"a":{"k":1,"l"', '{"a":1'],
  ],
  [
    'parts of alternatives',
    object({ a: {}, b: {} }, { required: [], oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
    ['{"a":1}', '{"b":1}'],
    ['{}'],
  ],
  [
    'schemas that all hold',
    { allOf: [object({ a: { type: ['integer', 'string'] } }), object({ a: { type: 'number' }, b: {} })] },
    ['{"a":1,"b":2}'],
    ['{"a":"', '{"a":1}', '{"a":1.'],
  ],
  ['references', recursive, ['{}', nested(3), nested(64)], ['{"next":1', nested(65)]],
  [
    'references with other keywords',
    { ...of({ $ref: '#/$defs/s', maxLength: 2 }), $defs: { s: { type: 'string', minLength: 1 } } },
    ['{"a":"xy"}'],
    ['{"a":""', '{"a":"xyz'],
  ],
])('reads %s', (_, schema, right, wrong) => {
  for (const args of right) expect(refused(schema, args), args).toBe('');
  for (const args of wrong) expect(refused(schema, args), args).not.toBe('');
});

test('strings are well-formed, and have no text that would end the call', () => {
  const schema = of({ type: 'string' });
  const bytes = (...between: number[]) =>
    Uint8Array.from([...Buffer.from('{"a":"'), ...between, ...Buffer.from('"}')]);
  const right = [
    '"}é</tool_call',
    '<\\/tool_call>',
    '\\u003c/tool_call>',
    '<</tool_cal>',
    '\\u00e9',
    '<tool_call>',
  ];
  for (const text of right.map((each) => each.replace('"}', '\\"}')))
    expect(refused(schema, `{"a":"${text}"}`), text).toBe('');
  expect(refused(schema, '{"a":"</tool_call>"}')).toMatch(/^>/);
  expect(refused(schema, '{"a":"<</tool_call>"}')).toMatch(/^>/);
  for (const text of ['\\ud83d', '\\x', 'a\nb', '\u0000'])
    expect(refused(schema, `{"a":"${text}"}`), text).not.toBe('');
  for (const cut of [
    [0xc3],
    [0x80],
    [0xe0, 0x80, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xff],
    [0xc0, 0x80],
  ])
    expect(refused(schema, bytes(...cut)), cut.join()).not.toBe('');
  for (const whole of [[0x7f], [0xed, 0x9f, 0xbf], [0xf4, 0x8f, 0xbf, 0xbf]])
    expect(refused(schema, bytes(...whole))).toBe('');
});

test.each(['a.b*(c)', '$^[x]|', 'é"\\', '</tool_call>', ''])('the tool %j is called by its name', (name) => {
  const literal = JSON.stringify(name).replace('</', '\\u003c/');
  const limit = new CallConstraints(byteVocabulary()).limit([{ name, inputSchema: {} }]);
  for (const byte of Buffer.from(`<tool_call>{"name":${literal},"arguments":{}}</tool_call>`)) {
    expect(isAllowed(limit.allowed, byte)).toBe(true);
    limit.accept(byte);
  }
});

test('text is free until a call begins, and without tools none begins', () => {
  const constraints = new CallConstraints(byteVocabulary());
  for (const tools of [[], [{ name: 'f', inputSchema: {} }]]) {
    const limit = constraints.limit(tools);
    for (const byte of Buffer.from('\u0000"{<tool_cal')) {
      expect(limit.allowed).toBeUndefined();
      limit.accept(byte);
    }
    limit.accept('l'.charCodeAt(0));
    expect(isAllowed(limit.allowed, '>'.charCodeAt(0))).toBe(tools.length > 0);
    for (const token of [endToken, specialToken, 0x20]) expect(isAllowed(limit.allowed, token)).toBe(true);
  }
});

test('a schema with 1,000 properties is read in any order', () => {
  const names = Array.from({ length: 1000 }, (_, i) => `property ${i}`);
  const schema = object(Object.fromEntries(names.map((name) => [name, { type: 'integer' }])), {
    required: names.slice(0, 500),
  });
  const order = createRng(1, 'order').shuffle(names).slice(0, 10);
  const started = performance.now();
  expect(refused(schema, `{${order.map((name) => `"${name}":1`).join()}}`)).toMatch(/^\}/);
  expect(performance.now() - started).toBeLessThan(3000);
});

describe('what cannot become a grammar is an error that names the tool and the remedy', () => {
  const wide = Array.from({ length: 9 }, (_, i) => ({ anyOf: [{ title: `${i}` }, { title: `not ${i}` }] }));
  test.each<[string, JsonSchema, string]>([
    [
      'a reference to elsewhere',
      of({ $ref: 'https://example.org/s' }),
      'the reference "https://example.org/s" does not lead into the schema itself',
    ],
    [
      'a reference to nothing',
      of({ $ref: '#/$defs/x' }),
      'the reference "#/$defs/x" does not lead into the schema itself',
    ],
    ['a loop', { $ref: '#' }, 'references lead to each other without an end'],
    ['a schema that allows nothing', object({ a: false as never }), 'it allows no arguments'],
    [
      'an endless value',
      { ...recursive, $defs: { tree: object({ next: { $ref: '#/$defs/tree' } }) } },
      'it allows no arguments',
    ],
    ['types other than objects', { type: 'string' }, 'it allows no arguments'],
    ['too many combinations', { allOf: [...wide, ...wide] }, 'alternatives have more than 512 combinations'],
    [
      'too many values',
      of({ enum: Array.from({ length: 20_001 }, (_, i) => i) }),
      'it has more than 20000 properties',
    ],
    ['a keyword of the wrong type', of({ type: 'object', required: 7 as never }), ''],
    ['a schema that is a number', object({ a: 7 as never }), 'a schema is neither an object nor a boolean'],
  ])('%s', (_, inputSchema, what) => {
    const limit = () => new CallConstraints(byteVocabulary()).limit([{ name: 'deep', inputSchema }]);
    const message = `Calls of the tool "deep" cannot be constrained, because of its schema: ${what}`;
    expect(limit).toThrow(
      expect.objectContaining({ code: 'usage.constrain_calls', message: expect.stringContaining(message) }),
    );
    expect(limit).toThrow(/ Simplify the schema, or leave constrainCalls out\.$/);
  });

  test('a format without a grammar, and a tokenizer whose tokens have no fixed bytes', () => {
    const open = (more: object) => () => new CallConstraints({ ...byteVocabulary(), ...more });
    expect(open({ format: 'xml' })).toThrow(
      /format "xml" cannot be constrained, only those in hermes, llama, mistral: leave/,
    );
    const decoder = { type: 'WordPiece' };
    expect(open({ tokenizer: { ...byteVocabulary().tokenizer, decoder } })).toThrow(
      /byte-level BPE.*: leave constrainCalls out/,
    );
  });
});

test('alternatives that begin alike at each level take bounded time', () => {
  const same = { type: 'array', items: { $ref: '#/$defs/list' } };
  const list = { anyOf: [same, { ...same, maxItems: 100 }, { ...same, maxItems: 1000 }] };
  const started = performance.now();
  expect(
    refused({ ...of({ $ref: '#/$defs/list' }), $defs: { list } }, `{"a":${'['.repeat(8)}${']'.repeat(8)}}`),
  ).toBe('');
  expect(performance.now() - started).toBeLessThan(3000);
});

describe('a hard schema takes at most two seconds, and is limited or refused with the remedy', () => {
  const deep = (levels: number): JsonSchema => (levels === 0 ? {} : of(deep(levels - 1)));
  const twice = (times: number): JsonSchema =>
    times === 0 ? { anyOf: [{}, { title: 'b' }] } : { allOf: [twice(times - 1), twice(times - 1)] };
  const list = Array.from({ length: 500 }, (_, i) => ({
    type: 'array',
    items: { $ref: '#/$defs/l' },
    maxItems: 9 + i,
  }));
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => `p${i}`);
  test.each<[string, JsonSchema]>([
    ['5,000 levels', deep(5_000)],
    ['60 levels', deep(60)],
    ['twelve doublings of alternatives', twice(12)],
    [
      '19,000 properties',
      { properties: Object.fromEntries(numbers(19_000).map((name) => [name, { type: 'integer' }])) },
    ],
    ['100,000 listed values', { properties: { a: { enum: numbers(100_000) } } }],
    ['lists of 500 kinds in each other', { ...of({ $ref: '#/$defs/l' }), $defs: { l: { anyOf: list } } }],
    ['a string of at least a billion characters', of({ type: 'string', minLength: 1e9 })],
    [
      'a property __proto__',
      JSON.parse('{"properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}'),
    ],
    ...Array.from({ length: 300 }, (_, i): [string, JsonSchema] => [
      `random keywords with random values, ${i}`,
      oddSchema(createRng(1, 'schema', i), 4) as JsonSchema,
    ]),
  ])('%s', (_, schema) => {
    const started = performance.now();
    try {
      for (const args of [
        '{"a":{"a":[[[',
        '{"p7":1,"p8":2}',
        '{"a":"p99999"}',
        '{"a":"xxxxxxxxx',
        '{"__proto__":1}',
        '{}',
      ])
        refused(schema, args);
    } catch (error) {
      expect(error).toMatchObject({
        code: 'usage.constrain_calls',
        message: expect.stringMatching(/leave constrainCalls out/),
      });
    }
    expect(performance.now() - started).toBeLessThan(6 * 2_000);
  });
});

const keywords =
  'type properties required additionalProperties items prefixItems minItems maxItems minLength maxLength enum const anyOf oneOf allOf $ref $defs'.split(
    ' ',
  );
const values: readonly unknown[] = [
  ...['string', 'object', 'array', 'integer', '#', '#/$defs/a', '#/properties/a', '', '😀"\\'],
  ...[0, 1, -1, 3, 1e9, 0.5, null, true, false, [], {}, ['a'], ['object', 'null'], [[]]],
];

/** JSON that is mostly a schema. */
function oddSchema(rng: Rng, depth: number): unknown {
  if (depth === 0 || rng.int(8) === 0) return rng.pick(values);
  const inner = () => oddSchema(rng, depth - 1);
  const filled = (keyword: string) => {
    if (rng.int(6) === 0) return rng.pick(values);
    if (/^(properties|\$defs)$/.test(keyword)) return { a: inner(), b: inner() };
    if (/Of$|prefix/.test(keyword)) return [inner(), inner()];
    return /^(items|additional)/.test(keyword) ? inner() : rng.pick(values);
  };
  const chosen = keywords.filter(() => rng.int(5) === 0);
  return Object.fromEntries(chosen.map((keyword) => [keyword, filled(keyword)]));
}

test('a vocabulary without the bytes of a call is an error, where the call needs them', () => {
  const without = [...Array(256).keys()].filter((byte) => byte !== 'é'.codePointAt(0) && byte !== 0xa9);
  const limit = new CallConstraints(byteVocabulary(without)).limit([{ name: 'é', inputSchema: {} }]);
  const bytes = [...Buffer.from('<tool_call>{"name":"'), 0xc3];
  for (const byte of bytes.slice(0, -1)) limit.accept(byte);
  expect(() => limit.accept(bytes.at(-1)!)).toThrow(
    expect.objectContaining({
      code: 'usage.constrain_calls',
      message: expect.stringMatching(/^bytes: no token continues a call.* leave constrainCalls out\.$/),
    }),
  );
});
