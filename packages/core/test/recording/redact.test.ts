import { expect, test } from 'vitest';
import { createRedactor } from '../../src/recording/redact.ts';

const redact = createRedactor();

test.each([
  ['Authorization: Bearer abc, x\nAccept: text', 'Authorization: [redacted]\nAccept: text'],
  ['curl -H "authorization: Basic YWJj" http://x', 'curl -H "authorization: [redacted]" http://x'],
  ['sent Bearer abcdefgh123 along', 'sent Bearer [redacted] along'],
  ['{"api_key": "a \\" b", "k": 3}', '{"api_key": "[redacted]", "k": 3}'],
  ['{"body":"{\\"token\\":\\"a b\\",\\"k\\":1}"}', '{"body":"{\\"token\\":\\"[redacted]\\",\\"k\\":1}"}'],
  ['https://x/?q=1&access_token=abc&k=2', 'https://x/?q=1&access_token=[redacted]&k=2'],
  ['GITHUB_TOKEN=ghp_1 node', 'GITHUB_TOKEN=[redacted] node'],
  ['password: hunter2hunter', 'password: [redacted]'],
])('in text, %s', (text, clean) => {
  expect(redact(text)).toBe(clean);
});

test.each([
  'The secret: he knew it all along.',
  'The Token: a novel',
  'max_tokens: 5, next_page_token=abc, "tokens": 12',
  'A tokenizer=bpe',
  '{"query": "password"}',
])('prose and paging stay: %s', (text) => {
  expect(redact(text)).toBe(text);
});

test('by property name, at any depth, whatever the value', () => {
  const value = {
    'X-Api-Key': 'a',
    clientSecret: { deep: 1 },
    cookies: ['kept'],
    list: [{ password: 7, token: null, secret: false }],
    pageToken: 'p',
  };
  expect(redact(value)).toEqual({
    'X-Api-Key': '[redacted]',
    clientSecret: '[redacted]',
    cookies: ['kept'],
    list: [{ password: '[redacted]', token: null, secret: false }],
    pageToken: 'p',
  });
  expect(value.list[0]!.password).toBe(7);
});

test('the caller’s own rules', () => {
  const own = createRedactor({ keys: /^pin$/gi, values: ['abc', 'abcd', /\d{4}/, ''] });
  expect(own({ PIN: 'x', Pin: 'y', token: 't', note: 'abcd abc 1234 567' })).toEqual({
    PIN: '[redacted]',
    Pin: '[redacted]',
    token: 't',
    note: '[redacted] [redacted] [redacted] 567',
  });
});

test('two megabytes take no time', () => {
  const start = performance.now();
  for (const text of [
    'a'.repeat(2e6),
    'a '.repeat(1e6),
    '"='.repeat(1e6),
    'token:'.repeat(3e5),
    `token="${'\\"'.repeat(1e6)}`,
  ]) {
    redact(text);
  }
  expect(performance.now() - start).toBeLessThan(4000);
});
