/** A search for the title of a document finds the document, for every document of a world. */
import { createWorld, textOf } from '@toolenv/envs-qa';
import { createSearchIndex } from '@toolenv/tools-search';
import { expect, test } from 'vitest';

const world = createWorld(1);

test('ranks a document first in a search for its title', async () => {
  const documents = world.documents.map((document) => ({ title: document.title, text: textOf(document) }));
  const index = await createSearchIndex({ documents });
  const others: string[] = [];
  // All searches at once take twice the processor time.
  for (let i = 0; i < documents.length; i += 16) {
    const titles = documents.slice(i, i + 16).map(({ title }) => title);
    const hits = await Promise.all(titles.map((title) => index.search(title, 3)));
    others.push(...titles.filter((title, k) => hits[k]![0]?.title !== title));
  }
  await index.close();
  expect(others).toEqual([]);
});
