/** Tool calls in a model's text: well-formed calls become values, and malformed calls become parse failures. */
import type { ToolCall } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callFormats, hermesFormat } from '../../src/call-formats/formats.ts';
import { llamaFormat, mistralFormat } from '../../src/call-formats/json-calls.ts';
import { unsafeInteger } from '../../src/schemas/json-text.ts';

const parseToolCalls = hermesFormat.parse;

test('a turn without a call is text', () => {
  expect(parseToolCalls(' the answer is 4 < 5 ')).toEqual({ text: 'the answer is 4 < 5', toolCalls: [] });
});

test('calls are removed from the text and numbered', () => {
  const raw =
    'First. <tool_call>\n{"name": "a", "arguments": {"x": [1]}}\n</tool_call><tool_call>{"name":"b","arguments":{}}</tool_call>';
  expect(parseToolCalls(raw)).toEqual({
    text: 'First.',
    toolCalls: [
      { id: 'call-0', name: 'a', arguments: { x: [1] } },
      { id: 'call-1', name: 'b', arguments: {} },
    ],
  });
});

test('a last call without its closing tag is a call', () => {
  expect(parseToolCalls('<tool_call>{"name": "a", "arguments": {}}').toolCalls).toEqual([
    { id: 'call-0', name: 'a', arguments: {} },
  ]);
});

test.each([
  ['not JSON', 'search(river)', /Not JSON/],
  ['cut JSON', '{"name": "a", "arguments": {', /Not JSON/],
  ['nothing', '', /Not JSON/],
  ['null', 'null', /"name"/],
  ['no name', '{"arguments": {}}', /"name"/],
  ['a name that is not a string', '{"name": 3, "arguments": {}}', /"name"/],
  ['arguments in a string', '{"name": "a", "arguments": "{}"}', /"arguments"/],
  ['arguments in an array', '{"name": "a", "arguments": []}', /"arguments"/],
])('%s is a parse failure that keeps the text', (_title, body, failure) => {
  const raw = `before <tool_call>${body}</tool_call>`;
  const { text, toolCalls } = parseToolCalls(raw);
  expect(text).toBe(raw);
  expect(toolCalls).toEqual([{ parseFailure: expect.stringMatching(failure), text: body }]);
});

test('a failed call does not hide the next one', () => {
  const raw = '<tool_call>{</tool_call><tool_call>{"name": "b", "arguments": {}}</tool_call>';
  const { text, toolCalls } = parseToolCalls(raw);
  expect(text).toBe('<tool_call>{</tool_call>');
  expect(toolCalls.map((call) => 'parseFailure' in call)).toEqual([true, false]);
});

test('Hermes: any calls round-trip', () => {
  const call = fc.record({ name: fc.string(), arguments: fc.dictionary(fc.string(), fc.jsonValue()) });
  const json = JSON.stringify;
  fc.assert(
    fc.property(fc.array(call, { maxLength: 4 }), (calls) => {
      fc.pre(unsafeInteger(json(calls)) === undefined);
      const raw = calls.map((one) => `<tool_call>${json(one)}</tool_call>`).join(' and ');
      const found = parseToolCalls(raw).toolCalls as ToolCall[];
      expect(found.map(({ name, arguments: args }) => json({ name, arguments: args }))).toEqual(
        calls.map((one) => json(JSON.parse(JSON.stringify(one)))),
      );
      expect(found.map(({ id }) => id)).toEqual(calls.map((_, index) => `call-${index}`));
    }),
  );
});

test.each([
  ['Hermes', hermesFormat],
  ['Llama', llamaFormat],
  ['Mistral', mistralFormat],
])('parsing any text as %s does not throw', (_, format) => {
  const marks = ['<tool_call>', '</tool_call>', '<|python_tag|>', '[TOOL_CALLS]', '[ARGS]', ';', '[', ']'];
  const piece = fc.oneof(fc.string(), fc.constantFrom(...marks, '{"name": "a", "arguments": {}}', '[null]'));
  fc.assert(fc.property(fc.array(piece), (pieces) => void format.parse(pieces.join(''))));
});

const args = fc.dictionary(fc.string(), fc.jsonValue());
const calls = fc.array(fc.record({ name: fc.stringMatching(/^\w+$/), args }), { minLength: 1, maxLength: 4 });
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value));

test.each([
  [
    'Llama',
    llamaFormat,
    (written: { name: string; args: object }[]) =>
      written.map(({ name, args }) => JSON.stringify({ name, parameters: args })).join('; '),
  ],
  [
    'Llama, with a ; after each call',
    llamaFormat,
    (written: { name: string; args: object }[]) =>
      written.map(({ name, args }) => `${JSON.stringify({ name, parameters: args })};\n`).join(''),
  ],
  [
    'Llama, tagged',
    llamaFormat,
    (written: { name: string; args: object }[]) =>
      `<|python_tag|>${written.map(({ name, args }) => JSON.stringify({ name, parameters: args })).join(';')}`,
  ],
  [
    'Mistral, an array',
    mistralFormat,
    (written: { name: string; args: object }[]) =>
      `[TOOL_CALLS]${JSON.stringify(written.map(({ name, args }) => ({ name, arguments: args })))}`,
  ],
  [
    'Mistral, one by one',
    mistralFormat,
    (written: { name: string; args: object }[]) =>
      written.map(({ name, args }) => `[TOOL_CALLS]${name}[ARGS]${JSON.stringify(args)}`).join(''),
  ],
])('%s: any calls round-trip', (_, format, write) => {
  fc.assert(
    fc.property(calls, (written) => {
      fc.pre(unsafeInteger(JSON.stringify(written)) === undefined);
      const { text, toolCalls } = format.parse(write(written));
      expect(text).toBe('');
      expect(toolCalls.map((call) => ('name' in call ? plain([call.name, call.arguments]) : call))).toEqual(
        written.map(({ name, args }) => plain([name, args])),
      );
    }),
  );
});

test('an answer is not a call', () => {
  for (const answer of ['42', '{"answer": 42}', '{"parameters": {}}', 'The name is {"name"}.']) {
    expect(llamaFormat.parse(answer)).toEqual({ text: answer, toolCalls: [] });
    expect(mistralFormat.parse(answer)).toEqual({ text: answer, toolCalls: [] });
  }
});

test('a malformed call of Llama or Mistral is a parse failure', () => {
  const cut = '{"name": "search", "parameters": {"query": "a';
  expect(llamaFormat.parse(cut)).toEqual({
    text: cut,
    toolCalls: [{ parseFailure: expect.stringMatching(/^Not JSON/), text: cut }],
  });
  expect(mistralFormat.parse('So: [TOOL_CALLS]{"name": "a"}').toolCalls).toEqual([
    { parseFailure: 'The calls must be an array.', text: '{"name": "a"}' },
  ]);
});

test('ids in the text are kept, missing ids become nine digits, and templates get nine letters and digits', () => {
  const raw =
    '[TOOL_CALLS][{"name": "a", "arguments": {}, "id": "abcdefghi"}, {"name": "b", "arguments": {}}]';
  const { toolCalls } = mistralFormat.parse(raw);
  expect(toolCalls.map((call) => 'id' in call && call.id)).toEqual(['abcdefghi', '000000001']);
  expect(mistralFormat.templateId!('call-0-0', 'a')).toBe('000call00');
});

const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;

test.each([
  ['Hermes', hermesFormat, `<tool_call>{"name": "a", "arguments": {"x": ${deep}}}</tool_call>`],
  ['Llama', llamaFormat, `{"name": "a", "parameters": {"x": ${deep}}}`],
  ['Mistral, an array', mistralFormat, `[TOOL_CALLS][{"name": "a", "arguments": {"x": ${deep}}}]`],
  ['Mistral, one by one', mistralFormat, `[TOOL_CALLS]a[ARGS]{"x": ${deep}}`],
  ['Mistral, not a call', mistralFormat, `[TOOL_CALLS][${deep}]`],
])('%s: arguments that nest too deeply are a parse failure', (_, format, raw) => {
  expect(format.parse(raw).toolCalls).toEqual([
    {
      parseFailure: 'Give arguments of at most 64 levels of arrays and objects.',
      text: raw.replaceAll(/^(<tool_call>|\[TOOL_CALLS\])|<\/tool_call>$/g, ''),
    },
  ]);
});

test('a number that JSON cannot hold makes a malformed call', () => {
  expect(
    hermesFormat.parse('<tool_call>{"name": "a", "arguments": {"x": 1e400}}</tool_call>').toolCalls,
  ).toEqual([
    { parseFailure: 'Give numbers that JSON can hold.', text: '{"name": "a", "arguments": {"x": 1e400}}' },
  ]);
});

test('arguments may have 64 levels and 65,536 characters', () => {
  const nested = (levels: number) => `{"x": ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  const write = (args: string) => `[TOOL_CALLS][{"name": "a", "arguments": ${args}}]`;
  const failures = (args: string) =>
    mistralFormat.parse(write(args)).toolCalls.filter((call) => 'text' in call);
  expect(failures(nested(64))).toEqual([]);
  expect(failures(nested(65))).toHaveLength(1);
  expect(failures(`{"x": "${'y'.repeat(65_000)}"}`)).toEqual([]);
  expect(failures(`{"x": "${'y'.repeat(66_000)}"}`)).toMatchObject([
    { parseFailure: 'Give arguments of at most 65536 characters of JSON.' },
  ]);
});

test("Mistral: the arguments of a call do not change the call's name or id", () => {
  const raw = '[TOOL_CALLS]search[ARGS]{}, "name": "delete_all"';
  expect(mistralFormat.parse(raw).toolCalls).toEqual([
    { parseFailure: expect.stringMatching(/^Not JSON/), text: 'search[ARGS]{}, "name": "delete_all"' },
  ]);
  expect(mistralFormat.parse('[TOOL_CALLS]search[ARGS]{"x": "[ARGS]{}"}').toolCalls).toEqual([
    { id: '000000000', name: 'search', arguments: { x: '[ARGS]{}' } },
  ]);
});

test('a name or id of any length becomes a parse failure', () => {
  const long = 'n'.repeat(1000);
  for (const call of [
    `{"name": "${long}", "arguments": {}}`,
    `{"name": "a", "arguments": {}, "id": "${long}"}`,
  ])
    expect(mistralFormat.parse(`[TOOL_CALLS][${call}]`).toolCalls).toMatchObject([
      { parseFailure: 'The name and the id of a call have at most 256 characters.' },
    ]);
});

test('a turn has at most 256 calls, however short they are', () => {
  for (const [format, raw] of [
    [hermesFormat, '<tool_call></tool_call>'.repeat(10_000)],
    [llamaFormat, `<|python_tag|>${'{};'.repeat(200_000)}`],
    [mistralFormat, '[TOOL_CALLS]'.repeat(10_000)],
    [mistralFormat, `[TOOL_CALLS][1${',1'.repeat(200_000)}]`],
  ] as const) {
    const { toolCalls } = format.parse(raw);
    expect(toolCalls).toHaveLength(257);
    expect(toolCalls.at(-1)).toMatchObject({
      parseFailure: expect.stringMatching(/^A turn has at most 256 calls/),
    });
  }
});

const formatNamed = (name: string) => callFormats.find((format) => format.name === name)!;

test('a call that is drafted in a thought is not a call', () => {
  const pay = '<tool_call>{"name": "pay", "arguments": {"invoice": 7}}</tool_call>';
  const raw = `<think>I could write ${pay} here.</think>Paying. ${pay}`;
  expect(hermesFormat.parse(raw)).toEqual({
    text: 'Paying.',
    reasoning: `I could write ${pay} here.`,
    toolCalls: [{ id: 'call-0', name: 'pay', arguments: { invoice: 7 } }],
  });
  // Between calls, too.
  const later = hermesFormat.parse(`${pay}<think>${pay}</think>${pay}`);
  expect(later.toolCalls).toHaveLength(2);
  expect(later.reasoning).toBe(pay);
});

test('a mention of a mark in a thought leaves the answer as it is', () => {
  expect(hermesFormat.parse('<think>I need no <tool_call> here.</think>It is 4.')).toEqual({
    text: 'It is 4.',
    reasoning: 'I need no <tool_call> here.',
    toolCalls: [],
  });
});

test('a thought without an end is not an answer, and a later mention of its mark is text', () => {
  expect(hermesFormat.parse('<think>The answer is 42')).toEqual({
    text: '',
    reasoning: 'The answer is 42',
    toolCalls: [],
  });
  expect(hermesFormat.parse('The tag <think> begins a thought.').text).toBe(
    'The tag <think> begins a thought.',
  );
  expect(hermesFormat.parse('<think></think>42')).toEqual({ text: '42', toolCalls: [] });
});

test('a mark of thoughts in an argument is part of the argument', () => {
  const raw = '<tool_call>{"name": "say", "arguments": {"text": "<think>no</think>"}}</tool_call>';
  expect(hermesFormat.parse(raw).toolCalls).toMatchObject([{ arguments: { text: '<think>no</think>' } }]);
});

test.each([
  [
    'hermes',
    'what does </tool_call> mean',
    (text: string) => `<tool_call>{"name": "a", "arguments": {"q": ${text}}}</tool_call>`,
  ],
  [
    'hermes',
    'and <tool_call>?',
    (text: string) => `<tool_call>{"name": "a", "arguments": {"q": ${text}}}</tool_call>`,
  ],
  [
    'mistral',
    'the marker [TOOL_CALLS] and [ARGS]',
    (text: string) => `[TOOL_CALLS][{"name": "a", "arguments": {"q": ${text}}}]`,
  ],
  ['mistral', 'the marker [TOOL_CALLS] and [ARGS]', (text: string) => `[TOOL_CALLS]a[ARGS]{"q": ${text}}`],
  [
    'llama',
    'tag <|python_tag|>; and "quotes"',
    (text: string) => `{"name": "a", "parameters": {"q": ${text}}}`,
  ],
  [
    'llama',
    'tag <|python_tag|>; and "quotes"',
    (text: string) => `<|python_tag|>{"name": "a", "parameters": {"q": ${text}}}`,
  ],
  [
    'kimi',
    '<|tool_call_end|>',
    (text: string) =>
      `<|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{"q": ${text}}<|tool_call_end|>`,
  ],
  [
    'deepseek',
    '<｜tool▁call▁end｜>',
    (text: string) => `<｜tool▁call▁begin｜>a<｜tool▁sep｜>{"q": ${text}}<｜tool▁call▁end｜>`,
  ],
])('%s: "%s" in an argument does not end the call', (name, text, write) => {
  const parsed = formatNamed(name).parse(write(JSON.stringify(text)));
  expect(parsed.text).toBe('');
  expect(parsed.toolCalls).toMatchObject([{ name: 'a', arguments: { q: text } }]);
});

const typed = {
  name: 'a',
  description: '',
  inputSchema: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      count: { type: 'integer' },
      on: { type: 'boolean' },
      level: { enum: ['1', '2'] },
      maybe: { type: ['string', 'null'] },
      list: { type: 'array' },
    },
  },
};

test('arguments between tags get the type that the schema gives', () => {
  const written = {
    text: '007',
    count: '3',
    on: 'True',
    level: '2',
    maybe: 'None',
    list: "['x', 1.5, None]",
  };
  const parameters = Object.entries(written).map(
    ([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`,
  );
  const raw = `<tool_call>\n<function=a>\n${parameters.join('')}</function>\n</tool_call>`;
  const [call] = formatNamed('qwen-coder').parse(raw, { tools: [typed] }).toolCalls;
  expect(call).toMatchObject({
    arguments: { text: '007', count: 3, on: true, level: '2', maybe: null, list: ['x', 1.5, null] },
  });
});

test('a text between tags keeps its lines and the marks in it', () => {
  const code = 'if a < b:\n  print("</parameter> ")\n\n';
  const raw = `<tool_call><function=a><parameter=text>\n${code}\n</parameter></function></tool_call>`;
  expect(formatNamed('qwen-coder').parse(raw, { tools: [typed] }).toolCalls).toMatchObject([
    { arguments: { text: code } },
  ]);
});

test('an integer beyond 2⁵³ is a mistake that names the limit', () => {
  const limit = expect.stringMatching(/9007199254740993 is beyond ±9007199254740991/);
  const json = '<tool_call>{"name": "a", "arguments": {"id": 9007199254740993}}</tool_call>';
  expect(hermesFormat.parse(json).toolCalls).toMatchObject([{ parseFailure: limit }]);
  const tags = '<tool_call><function=a><parameter=id>9007199254740993</parameter></function></tool_call>';
  expect(formatNamed('qwen-coder').parse(tags).toolCalls).toMatchObject([{ parseFailure: limit }]);
  const python = '<|tool_call_start|>[a(id=9007199254740993)]<|tool_call_end|>';
  expect(formatNamed('lfm2').parse(python).toolCalls).toMatchObject([{ parseFailure: limit }]);
  // The text of an argument holds any digits.
  expect(
    formatNamed('qwen-coder').parse(tags.replaceAll('id', 'text'), { tools: [typed] }).toolCalls,
  ).toMatchObject([{ arguments: { text: '9007199254740993' } }]);
});

test('a call may have no arguments', () => {
  const call = { id: 'call-0', name: 'now', arguments: {} };
  for (const body of [
    '{"name": "now"}',
    '{"name": "now", "arguments": null}',
    '{"name": "now", "arguments": {}}',
  ])
    expect(hermesFormat.parse(`<tool_call>${body}</tool_call>`).toolCalls).toEqual([call]);
  const now = { name: 'now', description: '', inputSchema: { type: 'object' } };
  expect(llamaFormat.parse('{"name": "now"}', { tools: [now] }).toolCalls).toEqual([call]);
});

test('Llama: {"type": "function"} is a call, and an answer with a name is not', () => {
  expect(llamaFormat.parse('{"type": "function", "name": "a", "parameters": {"x": 1}}').toolCalls).toEqual([
    { id: 'call-0', name: 'a', arguments: { x: 1 } },
  ]);
  for (const answer of ['{"name":"Ada","age":36}', '{"name": "Ada"}'])
    expect(llamaFormat.parse(answer)).toEqual({ text: answer, toolCalls: [] });
});

test('every format reads any text without throwing', () => {
  for (const format of callFormats) {
    const pieces = [
      ...format.markers,
      '{"name": "a", "arguments": {}}',
      '[',
      '{',
      '"',
      '<think>',
      ' to=functions.',
      '>>>',
    ];
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom(...pieces)), { maxLength: 12 }), (parts) => {
        format.parse(parts.join(''));
      }),
      { numRuns: 50 },
    );
  }
});
