/** An environment in one file: guess a word of five letters. G is in its place, Y is elsewhere in the word, - is not in it. */
import { defineToolEnv } from '@toolenv/core';

const words = ['apple', 'bread', 'chair', 'dance', 'eagle', 'flame', 'grape', 'house', 'lemon', 'mouse'];

/** Each letter of the word earns one mark: a repeated letter of the guess may earn none. */
function marks(guess: string, word: string): string {
  const others = [...word].filter((letter, place) => guess[place] !== letter);
  const mark = (letter: string, place: number) => {
    if (word[place] === letter) return 'G';
    const found = others.indexOf(letter);
    if (found < 0) return '-';
    others.splice(found, 1);
    return 'Y';
  };
  return [...guess].map(mark).join('');
}

export default defineToolEnv({
  name: 'wordle-v1',
  description: 'Guess a word of five letters in six tries.',
  limits: { maxTurns: 6 },
  tasks: { train: words.slice(4), validation: words.slice(0, 2), test: words.slice(2, 4) },
  rewards: { solved: { kind: 'outcome' } },
  episode: ({ task: word }) => ({
    messages: 'Guess my word: five letters. I mark each with G (in its place), Y (elsewhere) or - (absent).',
    onAnswer(text) {
      const guess = text.trim().toLowerCase();
      if (guess === word) return { rewards: { solved: 1 }, end: 'solved' };
      return /^[a-z]{5}$/.test(guess) ? marks(guess, word) : 'Answer with a word of five letters.';
    },
  }),
  oracle: (word) => [word],
  label: (word) => word,
});
