/** The plugin: its package, addresses, tokenizers and keys. */
import { join } from 'node:path';
import { completeOptions, parseAddressed } from '@toolenv/core/plugins';
import { assertConforms, checkPlugin } from '@toolenv/testing';
import { expect, test } from 'vitest';
import tinker, { type TinkerOptions } from '../src/tinker-v1.ts';
import { startReplay } from './replay-server.ts';

const root = join(import.meta.dirname, '../../..');
const tokenizer = join(root, 'packages/checkpoints/tiny');

function open(given: Record<string, unknown>) {
  const options = completeOptions(tinker.options, given, 'tinker-v1') as unknown as TinkerOptions;
  return tinker.open(options, { seed: 1 });
}

test('the package conforms', async () => {
  await assertConforms(checkPlugin(join(root, 'packages/tinker')));
});

test('the command line’s name of a model opens it', async () => {
  await using server = await startReplay();
  const name = parseAddressed(`tinker:${server.url}#random-qwen3`);
  expect(name?.ref).toBe('@toolenv/tinker/tinker-v1');
  const policy = await open({ address: name!.address, tokenizer, loraRank: 8 });
  expect(policy.spec).toEqual({
    name: `tinker:${server.url}#random-qwen3`,
    contextLength: 1024,
    usesSeparateSampler: true,
    capabilities: { knownTools: true },
  });
  expect(policy.vocabulary!.get(845)).toBe('<|im_end|>');
  expect(policy.learner!.trains).toBe('adapter');
  await policy.close?.();
  await using another = await startReplay();
  const cut = await open({ address: another.url, tokenizer, loraRank: 8, contextLength: 64 });
  expect(cut.spec.contextLength).toBe(64);
  await cut.close?.();
});

test.each([
  [{ address: 'somewhere' }, 'usage.tinker_address'],
  [{ address: 'ftp://h/#model' }, 'usage.tinker_address'],
  [{ address: 'http://me:secret@h#model' }, 'usage.tinker_address'],
  [{ address: 'http://127.0.0.1:1' }, 'usage.tinker_tokenizer'],
  [{ address: 'http://127.0.0.1:1#no-such-folder' }, 'usage.tinker_tokenizer'],
  [{ address: 'http://127.0.0.1:1#model', tokenizer, apiKey: 'NO_KEY' }, 'usage.tinker_key'],
  [
    { address: 'http://127.0.0.1:1#model', tokenizer, requestRetries: 0 },
    'infrastructure.tinker_unreachable',
  ],
])('%j is refused', async (given, code) => {
  await expect(open(given)).rejects.toMatchObject({ code });
});

test('a model that the server does not have is refused, because the server would not', async () => {
  await using server = await startReplay();
  await expect(open({ address: `${server.url}#other`, tokenizer })).rejects.toMatchObject({
    code: 'usage.tinker_model',
    message: expect.stringContaining('It has random-qwen3'),
  });
});
