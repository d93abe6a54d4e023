/** Which precision the times of products choose. */
import { expect, test } from 'vitest';
import { fasterPrecision } from '../src/product-times.ts';

test('bfloat16 is taken where it is at least 1.5 times as fast', () => {
  expect(fasterPrecision({ float32: 3, bfloat16: 2 })).toBe('bfloat16');
  expect(fasterPrecision({ float32: 2.99, bfloat16: 2 })).toBe('float32');
  // A CPU without such products computes them in float32, after it has converted both operands.
  expect(fasterPrecision({ float32: 3, bfloat16: 30 })).toBe('float32');
});
