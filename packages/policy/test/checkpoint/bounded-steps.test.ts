/** A tokenizer that makes much text of little is refused, and what honest tokenizers do is not. */
import { expect, test } from 'vitest';
import { Chat } from '../../src/chat/chat.ts';
import { checkTokenizer } from '../../src/checkpoint/tokenizer.ts';
import { wordCheckpoint } from '../word-checkpoint.ts';

const grown = expect.objectContaining({
  code: 'usage.checkpoint_unsupported',
  message: expect.stringMatching(/^words\/tokenizer\.json: its steps make too much text of a short one; use/),
});

function chatWith(parts: Record<string, unknown>): Chat {
  const checkpoint = wordCheckpoint();
  return new Chat({ ...checkpoint, tokenizer: { ...checkpoint.tokenizer, ...parts } });
}

const times = <T>(count: number, part: T): T[] => Array.from({ length: count }, () => part);
const replace = (pattern: object, content: string) => ({ type: 'Replace', pattern, content });
const sequence = (normalizers: unknown[]) => ({ type: 'Sequence', normalizers });
const split = { type: 'Split', pattern: { Regex: '\\p{N}' }, behavior: 'Isolated', invert: false };

test.each([
  ['doubles a letter 60 times', sequence(times(60, replace({ String: 'e' }, 'ee')))],
  ['puts text between letters 30 times', sequence(times(30, replace({ Regex: '' }, 'xx')))],
  [
    'decomposes what it composed',
    sequence(times(20, [replace({ String: ' ' }, '\ufdfa'), { type: 'NFKC' }]).flat()),
  ],
])('a normalizer that %s is refused', (_, normalizer) => {
  const chat = () => chatWith({ normalizer });
  expect(() => chat().encode('the river where we were')).toThrow(grown);
});

test.each([
  ['spells bytes 40 times', times(40, { type: 'ByteLevel', add_prefix_space: false, use_regex: false })],
  [
    'prefixes and splits 60 times',
    times(30, [{ type: 'Metaspace', replacement: '_', str_rep: '1' }, split]).flat(),
  ],
])('a splitter that %s is refused', (_, pretokenizers) => {
  expect(() => chatWith({ pre_tokenizer: { type: 'Sequence', pretokenizers } }).encode('é')).toThrow(grown);
});

test.each([
  ['spaces out letters 30 times', times(30, { type: 'BPEDecoder', suffix: '' })],
  ['doubles a letter 60 times', times(60, replace({ String: 'e' }, 'ee'))],
])('a decoder that %s is refused', (_, decoders) => {
  expect(() =>
    chatWith({ decoder: { type: 'Sequence', decoders } }).decode(Int32Array.of(70, 71, 72)),
  ).toThrow(grown);
});

test('more than 64 steps are refused, at any depth', () => {
  const normalizer = sequence(times(8, sequence(times(8, { type: 'NFC' }))));
  expect(() => chatWith({ normalizer })).toThrow(/it has \d+ steps, and at most 64 are supported/);
});

test('a post-processor cannot repeat a text', () => {
  const template = times(40, { Sequence: { id: 'A', type_id: 0 } });
  const post_processor = {
    type: 'Sequence',
    processors: times(6, { type: 'TemplateProcessing', single: template, pair: template }),
  };
  expect(chatWith({ post_processor }).encode('the river')).toEqual(chatWith({}).encode('the river'));
});

test('text that a Replace adds is literal', () => {
  const chat = (content: string) => chatWith({ normalizer: replace({ String: 'e' }, content) });
  expect(chat('$`$&').encode('the')).toEqual(chatWith({ normalizer: null }).encode('th$`$&'));
});

test('normalizers of known tokenizers are accepted', () => {
  const albert = [
    replace({ String: '``' }, '"'),
    { type: 'NFKD' },
    { type: 'StripAccents' },
    { type: 'Lowercase' },
    { type: 'Precompiled' },
    replace({ Regex: ' {2,}' }, ' '),
  ];
  const chat = chatWith({ normalizer: sequence(albert) });
  expect(chat.encode('\ufdfa  Été').length).toBeGreaterThan(10);
});

test.each([
  ['a Replace of nothing', { decoder: replace({ String: '' }, 'xx') }, /decoder\/pattern\/String/],
  ['a long content', { normalizer: replace({ String: 'e' }, 'e'.repeat(65)) }, /normalizer\/content/],
  ['pieces without a length', { pre_tokenizer: { type: 'FixedLength', length: 0 } }, /pre_tokenizer\/length/],
  ['a long added token', { added_tokens: [{ id: 0, content: 'a'.repeat(5000) }] }, /added_tokens/],
  ['a long token', { model: { type: 'BPE', vocab: { ['a'.repeat(5000)]: 0 }, merges: [] } }, /model\/vocab/],
  [
    'long words of WordPiece',
    { model: { type: 'WordPiece', vocab: {}, max_input_chars_per_word: 1e9 } },
    /max_input_chars_per_word/,
  ],
])('%s is refused when the file is read', (_, parts, message) => {
  const { tokenizer } = wordCheckpoint();
  expect(() => checkTokenizer('folder', { ...tokenizer, ...parts }, 1e6)).toThrow(message);
});
