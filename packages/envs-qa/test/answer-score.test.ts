import { readFileSync } from 'node:fs';
import { exactMatch, f1Score, normalizeAnswer, readAnswer, substringMatch } from '@toolenv/envs-qa';
import { expect, test } from 'vitest';

interface GoldenRow {
  prediction: string;
  gold: string;
  normalized: string;
  em: number;
  f1: number;
}

/** Written by golden/answer-score.py with HotpotQA's own script. */
const golden: GoldenRow[] = JSON.parse(
  readFileSync(new URL('./golden/answer-score.json', import.meta.url), 'utf8'),
);

test.each(golden)(
  '"$prediction" for "$gold" scores as in the official script',
  ({ prediction, gold, normalized, em, f1 }) => {
    expect(normalizeAnswer(prediction)).toBe(normalized);
    expect(exactMatch(prediction, gold)).toBe(em);
    expect(f1Score(prediction, gold)).toBeCloseTo(f1, 12);
  },
);

test('the substring score requires the whole gold answer in the prediction', () => {
  expect(substringMatch('It is the Silver Harbour, I think.', 'Silver Harbour')).toBe(1);
  expect(substringMatch('Silver', 'Silver Harbour')).toBe(0);
});

test.each([
  ['<answer> Silver Harbour </answer>', { answer: 'Silver Harbour', wellFormed: true }],
  ['So <answer>a</answer> or <answer>b</answer>', { answer: 'b', wellFormed: false }],
  ['<answer>a', { wellFormed: false }],
  ['a</answer>', { wellFormed: false }],
  ['</answer><answer>', { wellFormed: false }],
  ['<answer> </answer>', { wellFormed: false }],
  ['<answer><answer>a</answer>', { answer: 'a', wellFormed: false }],
  ['Silver Harbour', { wellFormed: false }],
])('reads %j', (text, expected) => {
  expect(readAnswer(text)).toEqual(expected);
});
