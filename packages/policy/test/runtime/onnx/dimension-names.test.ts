/** Names of dimensions that ONNX Runtime may take for one length, and names that it must not. */
import { expect, test } from 'vitest';
import { DimensionNames } from '../../../src/runtime/onnx/dimension-names.ts';
import { concatenatedDim } from '../../../src/runtime/shape.ts';

const inputs = new Set(['B', 'T']);

test('names of inputs are sure, and their parts and sums', () => {
  const names = new DimensionNames();
  expect(names.areSure([2, 'B', 'T'], inputs)).toBe(true);
  expect(names.areSure(['T/4', 'T/4+T/4', 'B+1'], inputs)).toBe(true);
  expect(names.areSure(['B', 'unknown'], inputs)).toBe(false);
  expect(names.areSure(['B+unknown/2'], inputs)).toBe(false);
});

test('a name that reshapes give is sure as long as it means one product', () => {
  const names = new DimensionNames();
  names.note(['B', 'T', 64], ['N', 64]);
  names.note(['B', 9, 'T', 64], ['B', 3, 'grouped', 64]);
  // The same in another order.
  names.note(['T', 'B', 2, 32], ['N', 64]);
  expect(names.areSure(['N', 'grouped', 'N/4'], inputs)).toBe(true);
  names.note(['B', 9, 'T/4', 64], ['B', 3, 'grouped', 64]);
  expect(names.areSure(['N'], inputs)).toBe(true);
  expect(names.areSure(['grouped'], inputs)).toBe(false);
  expect(names.areSure(['B', 'grouped+T'], inputs)).toBe(false);
  // Once unsure, a name stays so.
  names.note(['B', 9, 'T', 64], ['B', 3, 'grouped', 64]);
  expect(names.areSure(['grouped'], inputs)).toBe(false);
});

test('a name that means an unsure name, or itself, is unsure', () => {
  const names = new DimensionNames();
  names.note(['odd', 8], ['flat']);
  names.note(['flat', 2], ['pairs']);
  expect(names.areSure(['flat'], inputs)).toBe(false);
  expect(names.areSure(['pairs'], inputs)).toBe(false);
  names.note(['T', 8], ['odd']);
  expect(names.areSure(['pairs'], inputs)).toBe(true);
  const circle = new DimensionNames();
  circle.note(['x', 2], ['y']);
  circle.note(['x/2', 4], ['x']);
  expect(circle.areSure(['y'], inputs)).toBe(false);
  const two = new DimensionNames();
  two.note(['x', 2], ['y']);
  two.note(['y'], ['x', 2]);
  expect(two.areSure(['x', 'y'], inputs)).toBe(false);
});

test('all equal parts of a dimension are the dimension', () => {
  expect(concatenatedDim(['T/4', 'T/4', 'T/4', 'T/4'])).toBe('T');
  expect(concatenatedDim(['T/4', 'T/4', 'T/4'])).toBe('T/4+T/4+T/4');
  expect(concatenatedDim(['T/2', 'S/2'])).toBe('T/2+S/2');
  expect(concatenatedDim([2, 3])).toBe(5);
});
