import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { words } from '../src/wordle/words.ts';
import wordle, { marks } from '../src/wordle-v1.ts';
import { play } from './play.ts';

const splits = [words.train, words.validation, words.test];
const all = splits.flat();

describe('marks', () => {
  test.each([
    ['crane', 'crane', 'GGGGG'],
    ['crane', 'pilot', '-----'],
    ['speed', 'abide', '--Y-Y'],
    ['speed', 'erase', 'Y-YY-'],
    ['speed', 'steal', 'G-G--'],
    ['allow', 'label', 'YYY--'],
    ['eerie', 'sheep', 'YY---'],
    ['sheep', 'eerie', '--YY-'],
  ])('of %s for the word %s are %s', (guess, word, expected) => {
    expect(marks(guess, word)).toBe(expected);
  });

  // Few letters, so that most guesses and words repeat some.
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 5, maxLength: 5 });
  const count = (text: string, letter: string) => text.split(letter).length - 1;

  test('are G exactly where the letters are equal', () => {
    fc.assert(
      fc.property(letters, letters, (guess, word) => {
        const seen = marks(guess, word);
        return [...guess].every((letter, place) => (seen[place] === 'G') === (letter === word[place]));
      }),
    );
  });

  test('count each letter as often as both the guess and the word have it', () => {
    fc.assert(
      fc.property(letters, letters, fc.constantFrom('a', 'b', 'c'), (guess, word, letter) => {
        const seen = marks(guess, word);
        const marked = [...guess].filter((own, place) => own === letter && seen[place] !== '-').length;
        return marked === Math.min(count(guess, letter), count(word, letter));
      }),
    );
  });

  test('give Y to the first of equal letters', () => {
    fc.assert(
      fc.property(letters, letters, fc.constantFrom('a', 'b', 'c'), (guess, word, letter) => {
        const seen = [...marks(guess, word)].filter((_, place) => guess[place] === letter);
        const misplaced = seen.filter((mark) => mark !== 'G').join('');
        return /^Y*-*$/.test(misplaced);
      }),
    );
  });
});

test('the words have five letters, and none occurs twice or in two splits', () => {
  expect(splits.map(({ length }) => length)).toEqual([497, 72, 144]);
  expect(all.filter((word) => !/^[a-z]{5}$/.test(word))).toEqual([]);
  expect(new Set(all).size).toBe(all.length);
});

test('rewards letters that are in place for the first time, and the word', async () => {
  const { steps, rewards, reward, outcome } = await play(wordle, 'crane', [
    'Grape', // -GG-G
    'I try crown.', // GG--Y
    'Perhaps\nCRANE!',
  ]);
  expect(steps[1]!.observation.messages.at(-1)).toEqual({ role: 'user', content: '-GG-G' });
  expect(steps[2]!.observation.messages.at(-1)).toEqual({ role: 'user', content: 'GG--Y' });
  expect(steps.map((step) => step.rewards!.closer)).toEqual([0.6, 0, 0.4]);
  expect(rewards).toEqual({ solved: 1, closer: 1 });
  expect(reward).toBeCloseTo(1.1, 12);
  expect(outcome).toEqual({ kind: 'terminated', reason: 'solved' });
});

test('ends after six tries; a text that does not end with a word of five letters costs one', async () => {
  const { steps, rewards, outcome } = await play(wordle, 'crane', [
    '',
    'cranes',
    'cräne',
    'cr4ne',
    '42',
    'craft',
  ]);
  for (const step of steps.slice(1)) {
    expect(step.observation.messages.at(-1)!.content).toBe(
      'Your turn must end with a word of 5 letters, a to z.',
    );
  }
  expect(steps).toHaveLength(6);
  expect(rewards).toEqual({ solved: 0, closer: 0.6 });
  expect(outcome).toEqual({ kind: 'truncated', reason: 'max_turns' });
});

test('a tool call is a mistake and costs a turn', async () => {
  const { steps, outcome } = await play(wordle, 'crane', [
    [{ name: 'guess', arguments: { word: 'crane' } }],
    'crane',
  ]);
  expect(steps[0]!.calls[0]!.mistake!.code).toBe('unknown_tool');
  expect(outcome).toEqual({ kind: 'terminated', reason: 'solved' });
  expect(steps).toHaveLength(2);
});

test('the rules contain no word of the list', async () => {
  const { steps } = await play(wordle, 'crane', ['']);
  const said = steps[1]!.observation.messages.map(({ content }) => content).join(' ');
  const shown = new Set(said.toLowerCase().match(/[a-z]+/g));
  expect(all.filter((word) => shown.has(word))).toEqual([]);
});
