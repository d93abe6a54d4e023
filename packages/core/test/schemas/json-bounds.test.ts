/** Bounds of JSON values: exact limits, values that contain themselves, and values that only look small. */
import { expect, test } from 'vitest';
import { jsonMistake } from '../../src/schemas/json-bounds.ts';

const bounds = { depth: 3, characters: 100 };

test('a value within the bounds has no mistake', () => {
  for (const value of [null, 1, 'x'.repeat(98), [[[1]]], { a: { b: { c: 'd' } } }])
    expect(jsonMistake(value, bounds)).toBeUndefined();
});

test('a value may nest as many levels as the bounds say', () => {
  expect(jsonMistake([[[[]]]], bounds)).toEqual({
    path: '',
    expected: 'at most 3 levels of arrays and objects',
    received: 'a value with more than 3 levels',
  });
  expect(jsonMistake(nested(1_000_000), { depth: 64, characters: 1e9 })?.received).toMatch(/64 levels/);
});

test('texts, keys and items count as characters', () => {
  for (const value of ['x'.repeat(99), { ['k'.repeat(100)]: 1 }, Array(101).fill(1), new Array(2 ** 32 - 1)])
    expect(jsonMistake(value, bounds)?.expected).toBe('at most 100 characters of JSON');
});

test('a value that contains itself is too deep, and a shared part counts each time it occurs', () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  expect(jsonMistake(cycle, bounds)?.received).toMatch(/levels/);
  let shared: unknown = [1];
  for (let i = 0; i < 60; i++) shared = [shared, shared];
  expect(jsonMistake(shared, { depth: 64, characters: 65_536 })?.received).toMatch(/characters/);
});

test('a value that JSON does not have, or that throws when read, is a mistake', () => {
  for (const value of [1n, () => 1, Symbol('s'), new Uint8Array(10)])
    expect(jsonMistake([value], bounds)?.received).toBe('a value that JSON does not have');
  const throwing = {
    get a(): never {
      throw new Error('no');
    },
  };
  expect(jsonMistake(throwing, bounds)?.received).toBe('a value that cannot be read');
});

test('an integer that a number would round is named', () => {
  expect(jsonMistake({ id: 2512292042121000001n }, bounds)).toEqual({
    path: '',
    expected: 'integers within ±9007199254740991, with larger ones as strings',
    received: 'the integer 2512292042121000001',
  });
});

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}
