/** The colours of many runs. */
import { expect, it } from 'vitest';
import { colourOf } from '../page/run-colours.ts';

it('no two of a hundred runs have the same colour', () => {
  const colours = Array.from({ length: 100 }, (_, index) => colourOf(index));
  expect(new Set(colours).size).toBe(100);
  expect(colours[0]).toBe('#0072b2');
  expect(colours[8]).toBe('hsl(20.0 60% 45%)');
});
