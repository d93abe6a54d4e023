/** Tool calls in a model's text: well-formed calls become values, and malformed calls become parse failures. */
import type { ToolCall } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatOf, hermesFormat, llamaFormat, mistralFormat } from '../../src/tools/tool-call-formats.ts';

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
  ['an array', '["a"]', /"name"/],
  ['no name', '{"arguments": {}}', /"name"/],
  ['a name that is not a string', '{"name": 3, "arguments": {}}', /"name"/],
  ['no arguments', '{"name": "a"}', /"arguments"/],
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
  const json = (value: unknown) => JSON.stringify(value).replaceAll('<', '\\u003c');
  fc.assert(
    fc.property(fc.array(call, { maxLength: 4 }), (calls) => {
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
  const marked = /\[TOOL_CALLS\]|\[ARGS\]|<\|python_tag\|>/;
  fc.assert(
    fc.property(calls, (written) => {
      fc.pre(!marked.test(JSON.stringify(written)));
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
  expect(mistralFormat.templateId!('call-0-0')).toBe('000call00');
});

test('the chat template determines the format', () => {
  expect(formatOf("{{ '<tool_call>' }}")).toBe(hermesFormat);
  expect(formatOf(`{{ '{"name": "' + name + '", "parameters": ' }}`)).toBe(llamaFormat);
  expect(formatOf("{{ '[TOOL_CALLS]' }}")).toBe(mistralFormat);
  expect(formatOf('{{ messages }}')).toBe(hermesFormat);
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
    [llamaFormat, `<|python_tag|>${'1;'.repeat(200_000)}`],
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
