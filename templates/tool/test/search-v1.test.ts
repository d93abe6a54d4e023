import { createRng } from '@toolenv/core';
import { assertConforms, checkTool } from '@toolenv/testing';
import { expect, test } from 'vitest';
import plugin, { rarity } from '../src/search-v1.ts';

const { documents } = plugin.example.material;

async function search(query: string, topK = 2): Promise<string[]> {
  const tool = await plugin.create({ documents, topK });
  const { signal } = new AbortController();
  const context = { signal, rng: createRng(1), episodeId: 'test', callIndex: 0 };
  const { content } = await tool.execute({ query }, context);
  return String((content[0] as { text: string }).text).split('\n');
}

test('rare words count more', async () => {
  expect(rarity(1, 3)).toBeCloseTo(Math.log(1 + 2.5 / 1.5), 12);
  expect(rarity(3, 3)).toBeGreaterThan(0);
  expect(await search('Who wrote the first compiler?')).toEqual([
    'Grace: Grace wrote the first compiler.',
    'Ada: Ada wrote the first program.',
  ]);
});

test('returns at most topK documents, and says if there is none', async () => {
  expect(await search('wrote', 1)).toHaveLength(1);
  expect(await search('zebra')).toEqual(['No document found.']);
  await expect(plugin.create({ documents: [], topK: 1 })).rejects.toThrow('pass at least one');
});

test('follows the rules of the toolenv spec', async () => {
  await assertConforms(checkTool(plugin));
}, 60_000);
