import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evaluateExpression } from '../src/arithmetic/evaluate-expression.ts';

test.each([
  ['2 + 3 * 4', 14],
  ['(2 + 3) * 4', 20],
  ['10 - 4 - 3', 3],
  ['24 / 4 / 2', 3],
  ['-3 + 5', 2],
  ['2 * -3', -6],
  ['-(1 + 2)', -3],
  ['--4', 4],
  ['0.1 + 0.2', 0.3],
  ['7/2', 3.5],
  ['+2', 2],
  ['.5*8', 4],
  ['1 / 3', 0.333333333333],
  ['1 / 0', Number.POSITIVE_INFINITY],
])('%s is %d', (expression, value) => {
  expect(evaluateExpression(expression)).toBe(value);
});

test.each([
  '',
  '   ',
  '2 +',
  '* 2',
  '2 3',
  '(2',
  '2)',
  '()',
  '2 ** 3',
  '+',
  '.',
  '2 % 3',
  'x',
  '1e3',
  '2;3',
  'constructor',
  '1.2.3',
])('"%s" is no expression', (expression) => {
  expect(evaluateExpression(expression)).toBeUndefined();
});

test('bears 100,000 nested parentheses', () => {
  expect(evaluateExpression('('.repeat(100_000))).toBeUndefined();
  expect(evaluateExpression(`${'('.repeat(100_000)}7${')'.repeat(100_000)}`)).toBe(7);
});

/** Expressions with their values, computed alongside. */
const { node } = fc.letrec<{ node: { text: string; value: number }; leaf: { text: string; value: number } }>(
  (tie) => ({
    leaf: fc.nat(99).map((value) => ({ text: String(value), value })),
    node: fc.oneof(
      { depthSize: 'small' },
      tie('leaf'),
      fc
        .tuple(tie('node'), fc.constantFrom('+', '-', '*', '/'), tie('node'))
        .map(([left, operator, right]) => ({
          text: `(${left.text} ${operator} ${right.text})`,
          value: {
            '+': left.value + right.value,
            '-': left.value - right.value,
            '*': left.value * right.value,
            '/': left.value / right.value,
          }[operator]!,
        })),
    ),
  }),
);

test('the value is that of JavaScript, to 12 digits', () => {
  fc.assert(
    fc.property(node, ({ text, value }) => {
      expect(evaluateExpression(text)).toEqual(Number(value.toPrecision(12)));
    }),
  );
});

test('any text gives a number or undefined', () => {
  const symbols = fc.string({ unit: fc.constantFrom(...'0123456789.+-*/() '), maxLength: 30 });
  fc.assert(
    fc.property(fc.oneof(fc.string(), symbols), (text) => {
      expect(['number', 'undefined']).toContain(typeof evaluateExpression(text));
    }),
  );
});
