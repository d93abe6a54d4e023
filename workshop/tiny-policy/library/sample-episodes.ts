/** sampleEpisodes: faultless episodes of each environment, whose words the tokenizer has. */
import { demonstrations } from '../demonstrations.ts';
import type { Conversation } from '../lines.ts';
import { type LibraryName, library } from './library.ts';
import { libraryEpisodes } from './library-episodes.ts';

const episodesOfEach = 100;

/** By environment or family of questions. */
export type Episodes = ReadonlyMap<string, readonly Conversation[]>;

export async function sampleEpisodes(seed: number): Promise<Episodes> {
  const families = (['lookup', 'bridge'] as const).map((family) => {
    const options = { mix: { followHops: 1 }, leavesOut: true, episodesPerWorld: 2 * episodesOfEach };
    return [family, demonstrations({ family, ...options, seed })] as const;
  });
  const environments = (Object.keys(library) as LibraryName[]).map(
    (name) => [name, libraryEpisodes({ name, seed })] as const,
  );
  const episodes = new Map<string, Conversation[]>();
  for (const [name, source] of [...families, ...environments]) {
    const own: Conversation[] = [];
    while (own.length < episodesOfEach) own.push((await source.next()).value);
    await source.return(undefined as never);
    episodes.set(name, own);
  }
  return episodes;
}

/** The texts whose words the tokenizer has. The letters of Wordle are no words: of a game, only the rules count. */
export function linesForWords(episodes: Episodes): Conversation[] {
  return [...episodes].flatMap(([name, own]) =>
    own.map(({ messages, tools }) => ({
      messages: name === 'wordle' ? messages.slice(0, 1) : messages,
      tools,
    })),
  );
}
