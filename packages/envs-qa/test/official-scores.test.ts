/** What differs between Python, in which the official scripts are written, and JavaScript. `npm run interop -- datasets` compares far more. */
import { exactMatch, f1Score, musiqueF1Score, normalizeAnswer, substringMatch } from '@toolenv/envs-qa';
import { describe, expect, test } from 'vitest';

describe('white space is that of str.split()', () => {
  test.each(['\x1c', '\x1d', '\x1e', '\x1f', '\x85', '\xa0', '\u3000'])('%j divides words', (space) => {
    expect(normalizeAnswer(`Silver${space}Harbour`)).toBe('silver harbour');
    expect(exactMatch(`${space}Silver${space}Harbour`, 'silver harbour')).toBe(1);
    expect(f1Score(`Silver${space}Cape`, 'Silver Harbour')).toBe(0.5);
  });

  test.each(['\ufeff', '\u200b', '\u180e', '\x00'])('%j is part of a word', (character) => {
    expect(normalizeAnswer(`Silver${character}Harbour`)).toBe(`silver${character}harbour`);
    expect(exactMatch(`${character}yes`, 'yes')).toBe(0);
    expect(f1Score(`Silver${character}Harbour`, 'Silver Harbour')).toBe(0);
  });
});

test.each([
  ['the\u2014Σ', ' —σ'],
  ['२the', '२the'],
  ['a\u0301', '\u0301'],
  ['ΑΣ the ΑΣΑ', 'ας ασα'],
  ['İ', 'i̇'],
])('articles and lower case of %j are those of Python', (answer, expected) => {
  expect(normalizeAnswer(answer)).toBe(expected.trim());
});

describe('several gold answers', () => {
  test('the best of them counts', () => {
    const gold = ['United States of America', 'USA', 'American'];
    expect(exactMatch('the U.S.A.', gold)).toBe(1);
    expect(exactMatch('Canada', gold)).toBe(0);
    expect(f1Score('United States', gold)).toBeCloseTo(2 / 3, 12);
    expect(musiqueF1Score('United States', gold)).toBeCloseTo(2 / 3, 12);
    expect(substringMatch('They are american, I think', gold)).toBe(1);
    expect([exactMatch('x', []), f1Score('x', []), musiqueF1Score('x', []), substringMatch('x', [])]).toEqual(
      [0, 0, 0, 0],
    );
  });
});

/** [prediction, gold, F1 of HotpotQA and 2WikiMultihopQA, F1 of MuSiQue] */
test.each([
  ['yes it is', 'yes', 0, 0.5],
  ['no', 'no way', 0, 2 / 3],
  ['', 'the', 0, 1],
  ['the', 'Silver', 0, 0],
  ['yes', 'Yes.', 1, 1],
])('%j for %j: F1 follows the script of each dataset', (prediction, gold, hotpot, musique) => {
  expect(f1Score(prediction, gold)).toBeCloseTo(hotpot, 12);
  expect(musiqueF1Score(prediction, gold)).toBeCloseTo(musique, 12);
  expect(exactMatch('', 'the')).toBe(1);
});
