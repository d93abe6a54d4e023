/** Files of prices: which name fits, and what is refused. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { openAiPolicy } from '../src/open-policy.ts';
import { pricesOf, readPrices } from '../src/usage-count.ts';
import { startWireServer } from './wire-server.ts';

let file: string;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-prices-'));
  file = join(folder, 'prices.json');
  return () => rm(folder, { recursive: true });
});

test('the exact name wins, then the first pattern of the file', async () => {
  const price = (input: number) => ({ input, output: 9 });
  const table = { 'gpt-*': price(1), 'gpt-5*': price(2), 'gpt-5': price(3), '*/q*-*b': price(4) };
  await writeFile(file, JSON.stringify({ ...table, exact: { input: 5, cached: 0.5, output: 6 } }));
  const inputOf = async (model: string) => (await readPrices(file, model)).inputPrice;
  expect(await Promise.all(['gpt-5', 'gpt-5-mini', 'Qwen/qwen3-4b', 'gpt'].map(inputOf))).toEqual([
    3,
    1,
    4,
    undefined,
  ]);
  expect(await readPrices(file, 'exact')).toEqual({ inputPrice: 5, cachedPrice: 0.5, outputPrice: 6 });
  expect(await readPrices(file, '__proto__')).toEqual({});
  expect(await readPrices(undefined, 'exact')).toEqual({});
});

test('a pattern fits what a regular expression would fit', () => {
  const words = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
  const models = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
  fc.assert(
    fc.property(words, models, (pattern, model) => {
      const isFit = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(model);
      const found = pricesOf({ [pattern]: { input: 1, output: 1 } }, model);
      expect(found.inputPrice).toBe(isFit ? 1 : undefined);
    }),
  );
});

test.each([
  ['{"gpt": ', 'are not JSON'],
  ['[]', 'are not an object'],
  [`{"gpt": ${'['.repeat(1e5)}${']'.repeat(1e5)}}`, 'are wrong for "gpt"'],
  ['{"gpt": 3}', 'are wrong for "gpt": they are not an object'],
  ['{"gpt": {"input": 1}}', '"input" and "output" must be numbers from 0 up'],
  ['{"gpt": {"input": -1, "output": 1}}', '"input" and "output"'],
  ['{"gpt": {"input": 1, "output": 1e999}}', '"input" and "output"'],
  ['{"gpt": {"input": 1, "output": 1, "cached": "0"}}', '"cached" must be a number'],
  ['{"gpt": {"input": 1, "output": 1, "cache": 0}}', '"cache" is unknown'],
  ['{"gpt": {"__proto__": {"input": 1}}}', '"input" and "output"'],
])('%.60s is refused', async (text, why) => {
  await writeFile(file, text);
  const error = await readPrices(file, 'gpt').catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'usage.prices' });
  expect(error.message).toContain(why);
  expect(error.message).toContain(`write it as {"<model>"`);
});

test('a name of a million stars is compared in a second', async () => {
  await writeFile(file, JSON.stringify({ [`${'a*'.repeat(5e5)}b`]: { input: 1, output: 1 } }));
  const started = performance.now();
  expect(await readPrices(file, 'a'.repeat(1e5))).toEqual({});
  expect(performance.now() - started).toBeLessThan(1_000);
});

test('a pipe, an absent file and a gigabyte are refused', async () => {
  const pipe = `${file}.pipe`;
  execFileSync('mkfifo', [pipe]);
  onTestFinished(() => rm(pipe));
  await expect(readPrices(pipe, 'gpt')).rejects.toThrow('is not a regular file');
  await expect(readPrices(`${file}.none`, 'gpt')).rejects.toMatchObject({ code: 'usage.prices' });
  await truncate(file, 2 ** 30);
  await expect(readPrices(file, 'gpt')).rejects.toMatchObject({ code: 'usage.prices' });
});

test('a policy finds its prices by the name that the server tells, and options win', async () => {
  await using server = await startWireServer();
  await writeFile(file, JSON.stringify({ 'ti*': { input: 1e6, cached: 5e5, output: 2e6 } }));
  const costOf = async (options: object) => {
    const policy = await openAiPolicy({ url: server.url, toolCalls: 'text', prices: file, ...options });
    const { usage } = await policy.act(
      { messages: [{ role: 'user', content: 'Hi' }], tools: [] },
      { maxTokens: 4, temperature: 0, seed: 1 },
    );
    const { inputTokens, cachedTokens, outputTokens, cost } = usage!;
    return { cost, numbers: [inputTokens - cachedTokens, cachedTokens, outputTokens] as const };
  };
  const { cost, numbers } = await costOf({});
  const [fresh, cached, output] = numbers;
  expect(cached).toBe(1);
  expect(cost).toBeCloseTo(fresh + cached / 2 + 2 * output);
  expect((await costOf({ inputPrice: 3e6 })).cost).toBeCloseTo(3 * fresh + cached / 2 + 2 * output);
});
