/** The index of a browser finds what LanceDB finds, with the same scores. */
import { createSearchIndex } from '@toolenv/tools-search';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSearchIndex as createInBrowser } from '../src/search-index.browser.ts';

const names = [
  'Alder',
  'Velden',
  'Café',
  'MÜLLER',
  'Point',
  'Silver',
  'Wells',
  '1984',
  'Ηρα',
  'x'.repeat(45),
];
const words = [
  'the',
  'a',
  'of',
  'was',
  'born',
  'in',
  'directed',
  'by',
  'city',
  'film',
  "isn't",
  'well-known',
];
const phrase = (of: readonly string[], maxLength: number) =>
  fc.array(fc.constantFrom(...of), { minLength: 1, maxLength }).map((found) => found.join(' '));
const document = fc.record({ title: phrase(names, 3), text: phrase([...names, ...words], 30) });

test('hits and scores are those of LanceDB', async () => {
  const documents = fc.sample(document, { seed: 7, numRuns: 400 });
  const [inNode, inBrowser] = [await createSearchIndex({ documents }), await createInBrowser({ documents })];
  const queries = fc.sample(phrase([...names, ...words, '?', 'unknown'], 8), { seed: 8, numRuns: 300 });
  for (const query of queries) {
    const [expected, found] = [await inNode.search(query, 5), await inBrowser.search(query, 5)];
    expect(found).toHaveLength(expected.length);
    // LanceDB rounds scores to 32 bits, which may break a tie.
    for (const [rank, { score }] of expected.entries()) expect(found[rank]!.score).toBeCloseTo(score, 4);
    const clear = ({ score }: { score: number }) =>
      found.filter((other) => Math.abs(other.score - score) < 1e-3).length === 1;
    const last = found.at(-1)?.score ?? 0;
    const expectedTitles = expected.map(({ title, text }) => `${title}: ${text}`);
    for (const [rank, hit] of found.entries())
      if (clear(hit) && hit.score > last + 1e-3)
        expect(`${hit.title}: ${hit.text}`).toBe(expectedTitles[rank]);
  }
  await inNode.close();
});

test('ties are ordered by title; words are compared without case and accents', async () => {
  const documents = ['Tie B', 'Tie A', 'Café Müller'].map((title) => ({ title, text: 'Equal words.' }));
  const index = await createInBrowser({ documents });
  const titles = async (query: string) => (await index.search(query, 2)).map(({ title }) => title);
  expect(await titles('tie')).toEqual(['Tie A', 'Tie B']);
  expect(await titles('cafe MULLER')).toEqual(['Café Müller']);
  expect(await titles('well')).toEqual([]);
  expect(await titles('🙂 "()')).toEqual([]);
});

test('an index without documents is refused', async () => {
  await expect(createInBrowser({ documents: [] })).rejects.toMatchObject({ code: 'usage.no_documents' });
});
