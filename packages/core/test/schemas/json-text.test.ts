import { describe, expect, test } from 'vitest';
import { boundCall } from '../../src/boundary/bound-call.ts';
import {
  bigintsAs,
  exactJson,
  exactJsonText,
  integerMistake,
  tryJsonWithDigits,
  unsafeInteger,
} from '../../src/schemas/json-text.ts';

describe('unsafeInteger', () => {
  test.each([
    ['2512292042121000001', '2512292042121000001'],
    ['{"a": [1, {"id": -9007199254740993}]}', '-9007199254740993'],
    // 2⁶⁰, which a number holds and writes as 1152921504606847000.
    ['[1152921504606846976]', '1152921504606846976'],
    ['[1152921504606846977, 9007199254740993]', '1152921504606846977'],
    [`${'9'.repeat(400)}`, '9'.repeat(400)],
    ['{"\\\\": 9007199254740993}', '9007199254740993'],
    ['{"a\\"b": 9007199254740993}', '9007199254740993'],
  ])('finds the integer of %s', (text, integer) => {
    expect(unsafeInteger(text)).toBe(integer);
  });

  test.each([
    '9007199254740991',
    '[-9007199254740991, 0, -0, 12]',
    // A number writes the same digits.
    '[9007199254740992, 1000000000000000000, 2512292042121000000, 123456789012345680000]',
    '"2512292042121000001"',
    '{"2512292042121000001": "id \\"2512292042121000001\\" 2512292042121000001"}',
    '"\\\\2512292042121000001"',
    // Fractions and exponents ask for a rounded number.
    '[-0.1234567890123456789, 1e300, 2512292042121000001.5, 2512292042121000001e0]',
    '',
  ])('finds none in %s', (text) => {
    expect(unsafeInteger(text)).toBeUndefined();
  });

  test('takes time in proportion to the text', () => {
    const start = performance.now();
    expect(unsafeInteger(`"${'\\\\'.repeat(1e6)}", ${'1'.repeat(1e6)}.5`)).toBeUndefined();
    expect(unsafeInteger(`${'"1111111111111111'.repeat(1e5)}`)).toBeUndefined();
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});

describe('exactJson', () => {
  test('gives what JSON.parse gives, and bigints for integers that it would round', () => {
    const text =
      '{"id": 2512292042121000001, "ids": [1, 9007199254740993], "__proto__": 1, "n": "9007199254740993"}';
    const value = exactJson(text) as Record<string, unknown>;
    expect(value.id).toBe(2512292042121000001n);
    expect(value.ids).toEqual([1, 9007199254740993n]);
    expect(value.n).toBe('9007199254740993');
    expect(Object.keys(value)).toEqual(['id', 'ids', '__proto__', 'n']);
    expect(exactJson('2512292042121000001')).toBe(2512292042121000001n);
    expect(exactJson('{"a": 12}', () => 'not called')).toEqual({ a: 12 });
    expect(() => exactJson('{"a": 2512292042121000001')).toThrow(SyntaxError);
  });

  test('integers become texts of their digits, or the nearest numbers', () => {
    const text = '{"id": 2512292042121000001, "ids": [1, 9007199254740993], "n": null}';
    expect(exactJson(text, (value) => bigintsAs('text', value))).toEqual({
      id: '2512292042121000001',
      ids: [1, '9007199254740993'],
      n: null,
    });
    expect(exactJson(text, (value) => bigintsAs('number', value))).toEqual(JSON.parse(text));
    expect(exactJson(text, (value) => bigintsAs('number', value, 'id'))).toMatchObject({
      id: 2512292042121000001n,
      ids: [1, 9007199254740992],
    });
  });
});

test('exactJsonText writes what exactJson read', () => {
  const text = '{"id":2512292042121000001,"ids":[1,-9007199254740993,"9007199254740993"]}';
  expect(exactJsonText(exactJson(text))).toBe(text);
  expect(tryJsonWithDigits(text)).toEqual({
    id: '2512292042121000001',
    ids: [1, '-9007199254740993', '9007199254740993'],
  });
  expect(tryJsonWithDigits('{')).toBeUndefined();
});

test('a call with such an integer is a mistake that names it and the limit', () => {
  const args = exactJson('{"id": 2512292042121000001}') as Record<string, unknown>;
  expect(boundCall({ id: 'a', name: 'lookup', arguments: args })).toEqual({
    parseFailure: 'Give arguments of integers within ±9007199254740991, with larger ones as strings.',
    text: 'lookup with the integer 2512292042121000001',
  });
  expect(integerMistake('2512292042121000001')).toBe(
    'The integer 2512292042121000001 is beyond ±9007199254740991, where numbers are rounded: write it as a string.',
  );
});
