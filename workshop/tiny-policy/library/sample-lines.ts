/** sampleLines: episodes of each environment, whose words the tokenizer has. */
import { demonstrations } from '../demonstrations.ts';
import type { Conversation } from '../lines.ts';
import { type LibraryName, library } from './library.ts';
import { libraryEpisodes } from './library-episodes.ts';

const episodesOfEach = 100;

export async function sampleLines(seed: number): Promise<Conversation[]> {
  const sources = [
    ...(['lookup', 'bridge'] as const).map((family) =>
      demonstrations({ family, mix: { followHops: 1 }, episodesPerWorld: episodesOfEach, seed }),
    ),
    ...(Object.keys(library) as LibraryName[]).map((name) => libraryEpisodes({ name, careless: 0, seed })),
  ];
  const lines: Conversation[] = [];
  for (const source of sources) {
    for (let i = 0; i < episodesOfEach; i++) lines.push((await source.next()).value);
    await source.return(undefined as never);
  }
  return lines.map((line) => (isSpelling(line) ? { ...line, messages: line.messages.slice(0, 1) } : line));
}

/** A game of Wordle: its letters are no words. */
function isSpelling({ messages }: Conversation): boolean {
  return messages[0]!.content.includes('Wordle');
}
