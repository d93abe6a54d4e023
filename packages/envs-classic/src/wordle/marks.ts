/** Marks of a guess, as Wordle gives them. */

/**
 * One mark for each letter of the guess: `G` in its place, `Y` elsewhere in the word, `-` not in the word. A letter of the
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
