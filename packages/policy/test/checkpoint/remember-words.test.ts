import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Tokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { anyCharacter } from '../../../testing/src/schema-values.ts';
import { rememberWords } from '../../src/checkpoint/remember-words.ts';

type PreTokenizer = (text: string) => string[];

/** The pre-tokenizer of a byte-level tokenizer, as the library makes it. */
function library(preTokenizer: object): PreTokenizer {
  const model = { type: 'BPE', vocab: { a: 0 }, merges: [] };
  const none = { normalizer: null, post_processor: null, decoder: null, added_tokens: [] };
  const file = { ...none, model, pre_tokenizer: preTokenizer };
  return new Tokenizer(file, {}).pre_tokenizer as unknown as PreTokenizer;
}

function remembering(preTokenizer: object): PreTokenizer {
  const part = library(preTokenizer);
  rememberWords(part);
  return part;
}

const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: true };

it.each([
  byteLevel,
  { ...byteLevel, add_prefix_space: true },
  {
    type: 'Sequence',
    pretokenizers: [
      { type: 'Split', pattern: { Regex: '\\p{N}' }, behavior: 'Isolated', invert: false },
      { ...byteLevel, use_regex: false },
    ],
  },
])('splits and spells every text as the library does (%j)', (config) => {
  const [theirs, ours] = [library(config), remembering(config)];
  const words = fc.constantFrom(
    'the',
    ' the',
    ' größe',
    '河',
    '\n',
    '  ',
    "'ll",
    '42',
    '…',
    '🙂',
    '\ud800',
    '\ufeffx',
  );
  const text = fc.oneof(
    fc.array(words).map((some) => some.join('')),
    fc.string({ unit: anyCharacter }),
  );
  fc.assert(
    fc.property(text, (text) => {
      expect(ours(text)).toEqual(theirs(text));
    }),
    { numRuns: 1000 },
  );
});

it('spells a word once, until 65,536 others were seen', () => {
  const ours = remembering(byteLevel);
  const spell = vi.spyOn(TextEncoder.prototype, 'encode');
  try {
    for (let i = 0; i < 10; i++) expect(ours('größe')).toEqual(['grÃ¶ÃŁe']);
    expect(spell).toHaveBeenCalledTimes(1);
    for (let i = 0; i < 65_536; i++) ours(String(i));
    spell.mockClear();
    ours('größe');
    expect(spell).toHaveBeenCalledTimes(1);
  } finally {
    spell.mockRestore();
  }
});

it('tells a word with a byte order mark from the word without', () => {
  const ours = remembering({ ...byteLevel, use_regex: false });
  expect(ours('\ufeffword')).toEqual(['ï»¿word']);
  expect(ours('word')).toEqual(['word']);
});

it('keeps words, and not the texts that they are from', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const heap = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const ours = remembering(byteLevel);
  const long = (i: number) => `internationalisation${String.fromCodePoint(0x4e00 + i)}`;
  const before = heap();
  for (let i = 0; i < 20; i++) ours(`${long(i)} ${'word '.repeat(100_000)}`);
  // The texts have 10 million characters.
  expect(heap() - before).toBeLessThan(5_000_000);
  expect(ours(long(19))).toEqual(['internationalisationä¸ĵ']);
});
