/** Texts of any character are those of fast-check's unit `binary`. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../src/schema-values.ts';

test('draws the characters of the unit `binary`, and finds the dangerous strings among them', () => {
  const points = [0, 0xd7ff, 0xe000, 0x10ffff].map((point) => String.fromCodePoint(point));
  for (const character of points) expect(anyCharacter.canShrinkWithoutContext(character)).toBe(true);
  for (const other of ['', 'ab', '\ud800', '\udfff', 1])
    expect(anyCharacter.canShrinkWithoutContext(other)).toBe(false);
  const texts = fc.sample(fc.string({ unit: anyCharacter }), { seed: 1, numRuns: 2000 });
  expect(texts).toContain('__proto__');
  expect(
    Math.max(
      ...texts
        .join('')
        .split('')
        .map((unit) => unit.charCodeAt(0)),
    ),
  ).toBeGreaterThan(0xff00);
});
