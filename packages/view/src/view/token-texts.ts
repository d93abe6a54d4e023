/** The texts of an episode's tokens, if something knows them. */
import type { RecordedEpisode } from '../recorded/recorded-episode.ts';

export interface TokenTexts {
  /** Absent if nothing knows the texts: then ids are shown. */
  texts?: (ids: Int32Array) => string[];
  /** Why there are no texts. */
  note?: string;
}

/** The texts of the tokens of one turn. */
export interface TurnTexts {
  /** Of the prompt's tokens that no earlier turn had. */
  context: string[];
  /** Of the sampled tokens. */
  sampled: string[];
  /** Whether the prompt begins with all tokens of the turn before, so that both make one row for training. */
  goesOn: boolean;
}

export interface EpisodeTexts {
  turns: (TurnTexts | undefined)[];
  note?: string;
}

export function textsOf({ steps }: RecordedEpisode, { texts, note }: TokenTexts): EpisodeTexts {
  const asText = texts ?? ((ids: Int32Array) => Array.from(ids, (id) => `${id} `));
  let before: readonly number[] = [];
  const turns = steps.map(({ action: { tokens } }) => {
    if (!tokens) return undefined;
    const [prompt, sampled] = [Array.from(tokens.prompt), Array.from(tokens.action)];
    const goesOn = before.every((id, index) => prompt[index] === id);
    const all = asText(Int32Array.from([...prompt, ...sampled]));
    const context = all.slice(goesOn ? before.length : 0, prompt.length);
    before = [...prompt, ...sampled];
    return { context, sampled: all.slice(prompt.length), goesOn };
  });
  return { turns, ...(note !== undefined && { note }) };
}
