import { expect, test } from 'vitest';
import { contentText } from '../../src/schemas/index.ts';

test.each([
  ['a', 'a'],
  [[], ''],
  [
    [{ type: 'text', text: 'a' }, { type: 'output_text', text: 'b' }, { type: 'input_text', text: 'c' }, 'd'],
    'abcd',
  ],
])('%j is a text', (content, text) => {
  expect(contentText(content)).toBe(text);
});

test.each([
  null,
  undefined,
  7,
  { type: 'text', text: 'a' },
  [{ type: 'image_url' }],
  [{ type: 'text' }],
  [null],
])('%j has no text', (content) => {
  expect(contentText(content)).toBeUndefined();
});
