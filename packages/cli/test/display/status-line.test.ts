import { expect, it } from 'vitest';
import { countText, plural, scoreText, timeText } from '../../src/display/number-text.ts';
import { statusLine } from '../../src/display/status-line.ts';

it('writes what is known, and no more', () => {
  expect(statusLine({ reward: 0.412, headline: ['em', 0.385], calls: 2.06, tokensPerSecond: 1234.4 })).toBe(
    'reward 0.41  EM 0.39  2.1 calls/episode  1,234 tokens/s',
  );
  expect(statusLine({ reward: -1 })).toBe('reward -1.00');
});

it('writes numbers for people', () => {
  expect([scoreText(0.41234), scoreText(null), countText(12_345.6)]).toEqual(['0.412', '–', '12,346']);
  expect([plural(1, 'step'), plural(12_345, 'step')]).toEqual(['1 step', '12,345 steps']);
  expect([7.4, 185, 3729, -3].map(timeText)).toEqual(['0:07', '3:05', '1:02:09', '0:00']);
});
