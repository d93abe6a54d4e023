/** Demonstrations of wordle-v1: a note of what the marks say, then a word that agrees with them. */
import type { Rng } from '@toolenv/core';
import { words } from '../../../packages/envs-classic/src/wordle/words.ts';
import { marks } from '../../../packages/envs-classic/src/wordle-v1.ts';
import type { LibraryPlayer } from './player.ts';

/** All words, as a player who knows English has them. The words of other splits are guessed, and never the goal. */
const known = Object.values(words).flat();
const openers = ['crane', 'slate', 'trail', 'stone', 'cream', 'solar'].filter((word) => known.includes(word));

export const wordle: LibraryPlayer<string> = {
  ref: '@toolenv/envs-classic/wordle-v1',
  options: {},
  maxTokens: 48,
  success: 'solved',
  goal: (word) => word,
  play(_, rng) {
    const guesses: string[] = [];
    return ({ messages }, turn) => {
      const replies = messages.filter(({ role }) => role === 'user').slice(1);
      const seen = guesses.map((guess, index): Seen => [guess, replies[index]!.content]);
      const guess = turn === 0 ? rng.pick(openers) : choose(seen, rng);
      guesses.push(guess);
      return `${turn === 0 ? '' : `${noteOf(seen)} `}=${guess}`;
    };
  },
};

type Seen = readonly [guess: string, marks: string];

/** Any word that agrees with the marks. */
function choose(seen: readonly Seen[], rng: Rng): string {
  return rng.pick(known.filter((word) => seen.every(([guess, given]) => marks(guess, word) === given)));
}

/** `:cr__e +a -stou`: letters in their place, other letters of the word, and letters that it lacks. */
export function noteOf(seen: readonly Seen[]): string {
  const placed = ['_', '_', '_', '_', '_'];
  const [present, absent] = [new Set<string>(), new Set<string>()];
  for (const [guess, given] of seen) {
    for (const [place, letter] of [...guess].entries()) {
      if (given[place] === 'G') placed[place] = letter;
      else if (given[place] === 'Y') present.add(letter);
      else absent.add(letter);
    }
  }
  for (const letter of placed) present.delete(letter);
  for (const letter of [...placed, ...present]) absent.delete(letter);
  const sets = [present, absent].map((letters, index) =>
    letters.size > 0 ? ` ${'+-'[index]}${[...letters].join('')}` : '',
  );
  return `:${placed.join('')}${sets.join('')}`;
}
