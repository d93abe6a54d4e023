/** Tool calls in what a model writes: calls become values, and so does what only looks like one. */
import type { ToolCall } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseToolCalls } from '../src/tool-call-format.ts';

test('a turn without a call is text', () => {
  expect(parseToolCalls(' the answer is 4 < 5 ')).toEqual({ text: 'the answer is 4 < 5', toolCalls: [] });
});

test('calls are taken out of the text and numbered', () => {
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

test('a last call without its closing tag still counts', () => {
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
  ['a name that is no string', '{"name": 3, "arguments": {}}', /"name"/],
  ['no arguments', '{"name": "a"}', /"arguments"/],
  ['arguments in a string', '{"name": "a", "arguments": "{}"}', /"arguments"/],
  ['arguments in an array', '{"name": "a", "arguments": []}', /"arguments"/],
])('%s is a parse failure, which keeps the text', (_title, body, failure) => {
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

test('any call that is written comes back', () => {
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

test('whatever is written, parsing does not throw', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('<tool_call>', '</tool_call>', '{"name": "a", "arguments": {}}'),
  );
  fc.assert(fc.property(fc.array(piece), (pieces) => void parseToolCalls(pieces.join(''))));
});
