/** Texts that a model might write where a tool call is expected: nearly calls, cut calls, and texts made to be slow to parse. */
import fc from 'fast-check';
import { anyCharacter } from '../../../testing/src/schema-values.ts';

const usual = [
  '<think>',
  '<think>a</think>',
  ' <think></think>b',
  '</think>',
  '<parameter=a>',
  '</parameter>',
  '<arg_key>a</arg_key>',
  '<arg_value>',
  'search(a=',
  'call:search{a:',
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

function pieces(marks: readonly string[], most: number) {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...marks) },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
    { weight: 1, arbitrary: fc.json() },
    // A mark many times: deep nesting, many calls, long texts.
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...marks), fc.integer({ min: 1, max: most }))
        .map(([mark, times]) => mark.repeat(times)),
    },
  );
}

/**
 * Texts of up to about 100,000 characters, most of them short.
 * @param markers Those of the format, which come as often as all other marks.
 * @param most How often a mark is repeated at most.
 */
export function callTexts(markers: readonly string[], most = 2000): fc.Arbitrary<string> {
  const piece = fc.oneof(pieces(usual, most), ...(markers.length > 0 ? [pieces(markers, most)] : []));
  return fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));
}

/** Each mark repeated to about `length` characters after the start of a call. */
export function repetitiveTexts(markers: readonly string[], length: number): string[] {
  const marks = [...markers, ...usual];
  const heads = ['', '{"name": "', ...markers.slice(0, 1), `${markers[0] ?? ''}[`];
  return heads.flatMap((head) => marks.map((mark) => head + mark.repeat(Math.ceil(length / mark.length))));
}
