import { expect, test } from 'vitest';
import { giveBackIfLittle } from '../src/freed-memory.ts';

test('memory is given back where less than a tenth is available, and at most every half minute', () => {
  const [plenty, little, total] = [10, 9, 100];
  expect(giveBackIfLittle(plenty, total, 0)).toBe(false);
  expect(giveBackIfLittle(little, total, 0)).toBe(true);
  expect(giveBackIfLittle(little, total, 29_999)).toBe(false);
  expect(giveBackIfLittle(little, total, 30_000)).toBe(true);
});
