import { expect, test } from 'vitest';
import { escapeKey, resolvePointer } from '../../src/schemas/json-pointer.ts';

test('resolves escaped keys, items of arrays and the root', () => {
  const root = { 'a/b~1': [{ c: 7 }] };
  expect(escapeKey('a/b~1')).toBe('a~1b~01');
  expect(resolvePointer(root, `/${escapeKey('a/b~1')}/0/c`)).toBe(7);
  expect(resolvePointer(root, '')).toBe(root);
});

test('resolves missing and inherited keys to undefined', () => {
  expect(resolvePointer({ a: null }, '/a/b')).toBeUndefined();
  expect(resolvePointer({}, '/toString')).toBeUndefined();
});
