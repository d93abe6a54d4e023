/** The corpus of `npm run bench -- search`: passages of 100 words whose frequencies follow Zipf's law, queries, and vectors. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createRng, deriveSeed } from '@toolenv/core';
import { embed } from './word-vectors.ts';

const vocabulary = 200_000;
const passageWords = 100;
/** Words of a query, all from one passage. */
const queryWords = 8;

/** The word of a rank, the most frequent first. */
const word = (rank: number) => `w${rank.toString(36)}`;
const rankOf = (text: string) => Number.parseInt(text.slice(1), 36);

/** The words of a passage. They depend on its number alone. */
export function passageText(number: number): string {
  const rng = createRng(deriveSeed(1, 'passage', number));
  return Array.from({ length: passageWords }, () => word(Math.floor(vocabulary ** rng.float()))).join(' ');
}

export interface Question {
  query: string;
  /** The passage that its words come from. */
  passage: number;
}

/** Questions about passages that are spread over the corpus. */
export function questionsOf(size: number, count: number): Question[] {
  return Array.from({ length: count }, (_, index) => {
    const rng = createRng(deriveSeed(2, 'query', index));
    const passage = Math.floor(rng.float() * size);
    const words = passageText(passage).split(' ');
    const chosen = Array.from({ length: queryWords }, () => words[Math.floor(rng.float() * words.length)]!);
    return { query: chosen.join(' '), passage };
  });
}

/** Writes the passages in the format of Search-R1's dump. */
export async function writeCorpus(path: string, size: number): Promise<void> {
  const file = createWriteStream(path);
  for (let number = 0; number < size; number++) {
    const line = JSON.stringify({ id: `${number}`, contents: `"${number}"\n${passageText(number)}` });
    if (!file.write(`${line}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

/** The vector of a passage or a query. Frequent words, which have small ranks, weigh little; titles, which are numbers, nothing. */
export function vectorOf(text: string): Float32Array {
  return embed(text, (word) => (word.startsWith('w') ? Math.log(rankOf(word) + 2) : 0));
}

/** The `limit` nearest passages of each query, by comparing all. */
export function scan(size: number, queries: readonly string[], limit: number): number[][] {
  const vectors = queries.map(vectorOf);
  const best = queries.map((): [score: number, passage: number][] => []);
  for (let number = 0; number < size; number++) {
    const passage = vectorOf(passageText(number));
    for (const [index, query] of vectors.entries()) {
      let score = 0;
      for (let i = 0; i < passage.length; i++) score += query[i]! * passage[i]!;
      const nearest = best[index]!;
      if (nearest.length === limit && score <= nearest[limit - 1]![0]) continue;
      nearest.push([score, number]);
      nearest.sort(([a], [b]) => b - a);
      nearest.length = Math.min(limit, nearest.length);
    }
  }
  return best.map((nearest) => nearest.map(([, passage]) => passage));
}
