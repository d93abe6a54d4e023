/** The patterns of common tokenizers are encoded without a deadline, and no others. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasLinearPatterns } from '../../src/checkpoint/linear-patterns.ts';

const folder = join(import.meta.dirname, '../golden/chat/tokenizers');

test.each(readdirSync(folder))('the patterns of %s are known', (file) => {
  const { normalizer, pre_tokenizer } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  expect([normalizer, pre_tokenizer].map(hasLinearPatterns)).toEqual([true, true]);
});

test("Qwen3.5's pattern is known", () => {
  // As in transformers' tokenization_qwen3_5.py.
  const Regex = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
  expect(hasLinearPatterns({ type: 'Split', pattern: { Regex } })).toBe(true);
});

test('any other pattern is unknown, at any place', () => {
  const part = { type: 'Split', pattern: { Regex: '(a+)+' } };
  for (const given of [part, { type: 'Sequence', pretokenizers: [{ type: 'Digits' }, part] }])
    expect(hasLinearPatterns(given)).toBe(false);
});
