/** expectSame: equality of large arrays, which `toEqual` visits element by element. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

export function expectSame(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
}
