/** The plugin: its package, addresses, and keys that go to the server that they are for. */
import { join } from 'node:path';
import { completeOptions, parseAddressed } from '@toolenv/core/plugins';
import { parseModelAddress } from '@toolenv/core/remote';
import { assertConforms, checkPlugin } from '@toolenv/testing';
import { expect, test, vi } from 'vitest';
import openai, { type OpenAiOptions } from '../src/openai-v1.ts';
import { startWireServer } from './wire-server.ts';

const root = join(import.meta.dirname, '../../..');

function parseAddress(address: string) {
  return parseModelAddress(address, { code: 'usage.model_address', example: 'openai:http://h/v1#model' });
}

function open(given: Record<string, unknown>) {
  const options = completeOptions(openai.options, given, 'openai-v1') as unknown as OpenAiOptions;
  return openai.open(options, { seed: 1 });
}

test('the package conforms', async () => {
  await assertConforms(checkPlugin(join(root, 'packages/openai')));
});

test('an address is a URL and the name of a model, which may have any characters', () => {
  expect(parseAddressed('openai:http://h:1/v1#Qwen/Qwen3-0.6B')).toEqual({
    ref: '@toolenv/openai/openai-v1',
    address: 'http://h:1/v1#Qwen/Qwen3-0.6B',
  });
  expect(parseAddress('http://h:1/v1/#a/b:c#d')).toEqual({ url: 'http://h:1/v1', model: 'a/b:c#d' });
  expect(parseAddress('https://h')).toEqual({ url: 'https://h' });
  for (const name of ['C:\\models\\qwen', './qwen', '@toolenv/policy/transformer-v1', 'openai:'])
    expect(parseAddressed(name)).toBeUndefined();
});

test.each(['localhost:8000', 'ftp://h/v1', '#model', 'http://me:secret@h/v1'])(
  '%s is no address',
  (address) => {
    expect(() => parseAddress(address)).toThrow(expect.objectContaining({ code: 'usage.model_address' }));
  },
);

test('a key is sent if a variable is named, and OpenAI’s own key goes nowhere else', async () => {
  await using server = await startWireServer();
  vi.stubEnv('OPENAI_API_KEY', 'theirs');
  vi.stubEnv('MY_KEY', 'mine');
  await open({ address: server.url });
  expect(server.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  const count = server.requests.length;
  await open({ address: server.url, apiKey: 'MY_KEY' });
  const later = server.requests.slice(count).map(({ headers }) => headers.authorization);
  expect(new Set(later)).toEqual(new Set(['Bearer mine']));
  await expect(open({ address: server.url, apiKey: 'NO_KEY' })).rejects.toMatchObject({
    code: 'usage.model_key',
  });
});

test('a tokenizer gives exact tokens, and without it actions have none', async () => {
  await using server = await startWireServer();
  const observation = { messages: [{ role: 'user' as const, content: 'Hi' }], tools: [] };
  const sampling = { maxTokens: 4, temperature: 1, seed: 1 };
  const address = `${server.url}#tiny`;
  const exact = await open({ address, tokenizer: join(root, 'packages/checkpoints/tiny') });
  expect((await exact.act(observation, sampling)).tokens!.action.length).toBeGreaterThan(0);
  const plain = await open({ address, toolCalls: 'text', inputPrice: 1, outputPrice: 1 });
  expect(await plain.act(observation, sampling)).not.toHaveProperty('tokens');
  const { inputTokens, outputTokens, cost } = plain.usage!;
  expect(cost).toBeCloseTo((inputTokens + outputTokens) / 1e6, 12);
});
