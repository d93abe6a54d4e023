/** Which ranges a condition takes. */
import { describe, expect, it } from 'vitest';
import { readRange } from '../src/recorded/episode-filter.ts';

describe('readRange', () => {
  it.each([
    ['2', [2], [1.9, 2.1]],
    ['-0.5', [-0.5], [0.5]],
    ['0..0.5', [0, 0.25, 0.5], [-0.1, 0.6]],
    ['-1..-0.5', [-1, -0.5], [0, -2]],
    ['0.5..', [0.5, 9], [0.4]],
    ['..1', [-9, 1], [1.1]],
    ['>0', [0.1], [0, -1]],
    ['>= 1e-1', [0.1], [0.09]],
    ['<1', [0.9], [1]],
    ['<=-1', [-1], [0]],
  ])('%s', (text, inside, outside) => {
    const holds = readRange('--reward', text);
    expect(inside.filter(holds)).toEqual(inside);
    expect(outside.filter(holds)).toEqual([]);
  });

  it.each(['', '..', 'x', '1..2..3', '>', '1-2', '> 0 < 1'])('refuses "%s"', (text) => {
    expect(() => readRange('--step', text)).toThrow(
      expect.objectContaining({
        code: 'usage.bad_flag',
        message: expect.stringContaining(`--step ${text}: give`),
      }),
    );
  });
});
