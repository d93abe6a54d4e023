/** Texts that a model might write where a tool call is expected: nearly calls, cut calls, and texts made to be slow to parse. */
import fc from 'fast-check';
import { anyCharacter } from '../../../testing/src/any-character.ts';

const marks = [
  '<tool_call>',
  '</tool_call>',
  '<|python_tag|>',
  '[TOOL_CALLS]',
  '[ARGS]',
  '{"name": "search", "arguments": {"query": "river"}}',
  '{"name": "search", "parameters": {"query": "river; \\"lake\\""}}',
  '[{"name": "search", "arguments": {}, "id": "abcdefghi"}]',
  '{"name": ',
  '"arguments": {',
  '"name": "other"',
  ';',
  ',',
  ':',
  '"',
  '\\',
  '\\u0000',
  '{',
  '}',
  '[',
  ']',
  'null',
  '1e999',
  '"__proto__"',
  '\n',
  ' ',
  '\ud800',
];

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...marks) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
  { weight: 1, arbitrary: fc.json() },
  // A mark many times: deep nesting, many calls, long texts.
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...marks), fc.integer({ min: 1, max: 2000 }))
      .map(([mark, times]) => mark.repeat(times)),
  },
);

/** Texts of up to about 100,000 characters, most of them short. */
export const callTexts: fc.Arbitrary<string> = fc
  .array(piece, { maxLength: 12 })
  .map((pieces) => pieces.join(''));

const heads = [
  '',
  '<tool_call>',
  '<|python_tag|>',
  '{"name": "',
  '[TOOL_CALLS]',
  '[TOOL_CALLS][',
  '[TOOL_CALLS]a[ARGS]',
];

/** Each mark repeated to about `length` characters after the start of each format. */
export function repetitiveTexts(length: number): string[] {
  return heads.flatMap((head) => marks.map((mark) => head + mark.repeat(Math.ceil(length / mark.length))));
}
