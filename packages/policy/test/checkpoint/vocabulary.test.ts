/** The tokens of tokenizer.json by their ids, for each kind of model. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openChat } from '../../src/chat/open-chat.ts';
import { vocabularyOf } from '../../src/checkpoint/tokenizer.ts';

const tiny = join(import.meta.dirname, '../../../checkpoints/tiny');

test('a policy knows its tokens, added ones among them', async () => {
  const { chat, vocabularySize } = await openChat(tiny);
  expect(chat.vocabulary.size).toBe(vocabularySize);
  expect([...chat.vocabulary.keys()].sort((a, b) => a - b)).toEqual([...Array(vocabularySize).keys()]);
  expect(chat.vocabulary.get(48)).toBe('0');
  expect(chat.vocabulary.get(846)).toBe('<tool_call>');
});

test('a Unigram model lists its tokens, and an added token takes the place of one', () => {
  const vocab = [
    ['<unk>', 0],
    ['a', -1],
    ['b', -2],
  ];
  const added_tokens = [
    { id: 2, content: '<b>' },
    { id: 7, content: '<end>' },
  ];
  const found = vocabularyOf({ model: { type: 'Unigram', vocab }, added_tokens });
  expect([...found]).toEqual([
    [0, '<unk>'],
    [1, 'a'],
    [2, '<b>'],
    [7, '<end>'],
  ]);
});
