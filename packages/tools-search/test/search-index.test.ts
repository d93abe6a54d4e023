import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSearchIndex, type SearchDocument } from '@toolenv/tools-search';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const documents: SearchDocument[] = [
  {
    title: 'Silver Harbour',
    text: 'Silver Harbour is a film directed by Mara Velden. It was filmed in Alder Point.',
  },
  { title: 'Mara Velden', text: 'Mara Velden is a painter. She is often confused with Silver Harbour.' },
  { title: 'Alder Point', text: 'Alder Point is a city of silver. Mara Velden was born in Alder Point.' },
  { title: 'Tie B', text: 'Equal words.' },
  { title: 'Tie A', text: 'Equal words.' },
  { title: 'The Wells', text: 'A village.' },
  { title: 'Café Müller', text: 'A piece.' },
];

const titles = (hits: readonly SearchDocument[]) => hits.map(({ title }) => title);

describe('createSearchIndex', () => {
  let index: Awaited<ReturnType<typeof createSearchIndex>>;
  beforeAll(async () => {
    index = await createSearchIndex({ documents });
  });
  afterAll(() => index.close());

  test.each(documents.slice(0, 3))('ranks $title above documents that mention it', async ({ title }) => {
    const hits = await index.search(title, 3);
    expect(hits[0]!.title).toBe(title);
    expect(hits[0]!.score).toBeGreaterThan(hits[1]!.score);
  });

  test('orders ties by title, even if the limit cuts them', async () => {
    expect(titles(await index.search('equal', 2))).toEqual(['Tie A', 'Tie B']);
    expect(titles(await index.search('equal', 1))).toEqual(['Tie A']);
  });

  test('considers all tied documents, however many', async () => {
    const many = Array.from({ length: 200 }, (_, i) => ({ title: `N${999 - i}`, text: 'same' }));
    const ties = await createSearchIndex({ documents: many });
    expect(titles(await ties.search('same', 2))).toEqual(['N800', 'N801']);
    await ties.close();
  });

  test('ignores case and accents, but keeps stop words and endings', async () => {
    expect(titles(await index.search('cafe MULLER', 1))).toEqual(['Café Müller']);
    expect(titles(await index.search('the', 3))).toEqual(['The Wells']);
    expect(await index.search('well', 3)).toEqual([]);
  });

  test('finds nothing without searchable words', async () => {
    for (const query of ['', ' ', '"', '(', '*:*', '\u0000', '🙂', '+-&&||!(){}[]^"~*?:\\/']) {
      expect(await index.search(query, 3)).toEqual([]);
    }
  });

  test('treats operators as words', async () => {
    expect(titles(await index.search('-"Silver Harbour" AND NOT (film', 1))).toEqual(['Silver Harbour']);
  });

  test('accepts any string', async () => {
    const odd = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc
        .array(fc.constantFrom('silver', '"', '(', 'AND', 'title:', '\ud800', '\n', '~2', '*'), {
          maxLength: 9,
        })
        .map((w) => w.join(' ')),
    );
    await fc.assert(
      fc.asyncProperty(odd, async (query) => {
        expect((await index.search(query, 3)).length).toBeLessThanOrEqual(3);
      }),
      { numRuns: 300 },
    );
    expect(titles(await index.search(`silver ${'x'.repeat(100_000)}`, 1))).toHaveLength(1);
  });

  test('requires documents', async () => {
    await expect(createSearchIndex({ documents: [] })).rejects.toMatchObject({ code: 'usage.no_documents' });
  });
});

test('indexes in memory are independent', async () => {
  const [a, b] = await Promise.all([createSearchIndex({ documents }), createSearchIndex({ documents })]);
  expect([a.reused, b.reused]).toEqual([false, false]);
  await a.close();
  expect(titles(await b.search('wells', 1))).toEqual(['The Wells']);
  await b.close();
});

describe('an index in a folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'toolenv-search-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('is reused for the same documents and rebuilt for others', async () => {
    const first = await createSearchIndex({ documents, folder });
    expect(first.reused).toBe(false);
    const before = await first.search('silver', 3);
    await first.close();

    const second = await createSearchIndex({ documents, folder });
    expect(second.reused).toBe(true);
    expect(await second.search('silver', 3)).toEqual(before);
    await second.close();

    const changed = await createSearchIndex({ documents: documents.slice(1), folder });
    expect(changed.reused).toBe(false);
    expect(titles(await changed.search('silver', 3))).not.toContain('Tie A');
    await changed.close();
  });
});
