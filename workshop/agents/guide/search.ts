// search.ts
import { createWorld, textOf } from '@toolenv/envs-qa';

/** A made-up world, in which every person has a birthplace, and every city a mountain. */
export const world = createWorld(1);
const articles = world.documents.map((article) => ({ title: article.title, text: textOf(article) }));

export const instructions =
  'Answer the question. Use search to find documents. Put the answer in <answer></answer>.';

/** Returns an article, and the next article, which is useless. */
export function search(query: unknown): string {
  const found = articles.findIndex(({ title }) => title === String(query).trim());
  if (found < 0) return `There is no article ${query}.`;
  return articles
    .slice(found, found + 2)
    .map(({ title, text }) => `${title}: ${text}`)
    .join('\n');
}
