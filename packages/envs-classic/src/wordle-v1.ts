/** `wordle-v1`: guess a word of five letters. A dialogue without tools: each guess is answered with marks. */
import { defineToolEnv } from '@toolenv/core';
import { words } from './wordle/words.ts';

const rules = `We play Wordle. Guess my English word of 5 letters. I answer with a mark for each letter:
G if it is in the same position of my word, Y if it is at another position, - if my word has no more of it.
The last word of your turn is your guess.`;

export default defineToolEnv({
  name: 'wordle-v1',
  description: 'Guess a word of five letters in six tries. A dialogue without tools.',
  limits: { maxTurns: 6 },
  tasks: words,
  rewards: {
    solved: { kind: 'outcome' },
    /** The share of the letters by which the guess has more G than the best guess before it. */
    closer: { kind: 'process', weight: 0.1 },
  },
  episode({ task: word }) {
    let best = 0;
    return {
      messages: rules,
      onAnswer(text) {
        const guess = lastWord(text);
        if (guess.length !== word.length) return 'Your turn must end with a word of 5 letters, a to z.';
        const seen = marks(guess, word);
        const right = seen.replaceAll(/[^G]/g, '').length;
        const closer = Math.max(0, right - best) / word.length;
        best = Math.max(best, right);
        if (guess === word) return { rewards: { solved: 1, closer }, end: 'solved' };
        return { reply: seen, rewards: { closer } };
      },
    };
  },
  oracle: (word) => [word],
  label: (word) => word,
});

/** The last word of the text in lower case, or nothing if it has other letters than a to z. */
function lastWord(text: string): string {
  const word =
    text
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.at(-1) ?? '';
  return /^[a-z]+$/.test(word) ? word : '';
}

/**
 * One mark for each letter of the guess, as Wordle gives them: `G` in its place, `Y` elsewhere in the word, `-` not in the word. A letter of the
 * word earns one mark: if the guess repeats a letter more often than the word does, the others are `-`. Letters in their
 * place come first, then the rest from left to right.
 */
export function marks(guess: string, word: string): string {
  const unmatched = [...word].filter((letter, place) => guess[place] !== letter);
  return [...guess]
    .map((letter, place) => {
      if (word[place] === letter) return 'G';
      const elsewhere = unmatched.indexOf(letter);
      if (elsewhere < 0) return '-';
      unmatched.splice(elsewhere, 1);
      return 'Y';
    })
    .join('');
}
