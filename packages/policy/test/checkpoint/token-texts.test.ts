import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Chat } from '../../src/chat/chat.ts';
import { readCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { tokenTexts } from '../../src/checkpoint/token-texts.ts';
import { openTokenizer } from '../../src/checkpoint/tokenizer.ts';

const tiny = join(import.meta.dirname, '../../../../packages/checkpoints/tiny');

it('gives each token a text, so that the texts make up the decoded conversation', async () => {
  const checkpoint = await readCheckpoint(tiny);
  const messages = [{ role: 'user' as const, content: 'Which river… flows through Nidra Shelridge?' }];
  const prompt = new Chat(checkpoint).prompt({ messages, tools: [] });
  const texts = (await tokenTexts(tiny))(prompt);
  expect(texts).toHaveLength(prompt.length);
  expect(texts[0]).toBe('<|im_start|>');
  expect(texts).toContain(' river');
  // The tiny policy has no token for an ellipsis: three tokens spell its bytes.
  const at = texts.indexOf('…');
  expect(texts.slice(at - 2, at)).toEqual(['', '']);
  const { folder, tokenizer, tokenizerConfig } = checkpoint;
  const decoded = openTokenizer(folder, tokenizer, tokenizerConfig).decode([...prompt], {
    skip_special_tokens: false,
  });
  expect(texts.join('')).toBe(decoded);
});

it('refuses a folder without a tokenizer', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-tokens-'));
  await expect(tokenTexts(folder)).rejects.toMatchObject({ code: 'usage.checkpoint_missing' });
});
