/** Losses against published numbers, by hand and by finite differences; what lies at mask 0 is not seen. */
import type { Rows } from '@toolenv/core/learner';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { policyLoss } from '../../../src/update/losses/policy-loss.ts';
import { valueLoss } from '../../../src/update/losses/value-loss.ts';

const rows = (values: readonly (readonly number[])[]): Rows => values.map((row) => Float32Array.from(row));
const bits = (values: readonly (readonly number[])[]) => values.map((row) => Uint8Array.from(row));
const plain = { loss: 'bnpo', clip: [0.2, 0.28], delta: 3, entropyCoefficient: 0 } as const;

test('the token mean of the clipped loss equals what TRL 1.10 computes, and so does its gradient', () => {
  const old = [
    [-1.2, -0.5, -1.5, -0.7],
    [-0.9, -1, -0.9, -1.4],
  ];
  const { value, dLogprobs } = policyLoss(
    {
      logprobs: rows([
        [-1, -0.5, -2, -0.7],
        [-0.3, -1.2, -0.9, -1.5],
      ]),
      oldLogprobs: rows(old),
      entropy: rows(old),
      mask: bits([
        [1, 1, 1, 0],
        [1, 1, 0, 0],
      ]),
      advantages: rows([
        [1, 1, 1, 1],
        [-0.5, -0.5, -0.5, -0.5],
      ]),
    },
    plain,
  );
  expect(Math.abs(value - -0.301502)).toBeLessThan(1e-5);
  const expected = [
    [-0.24428, -0.2, -0.12131, 0],
    [0.18221, 0.08187, 0, 0],
  ];
  for (const [b, row] of expected.entries()) {
    for (const [t, slope] of row.entries()) expect(Math.abs(dLogprobs[b]![t]! - slope)).toBeLessThan(1e-5);
  }
});

/** One token with the given ratio and advantage. */
function single(ratio: number, advantage: number) {
  return policyLoss(
    {
      logprobs: rows([[Math.log(ratio)]]),
      oldLogprobs: rows([[0]]),
      entropy: rows([[0.5]]),
      mask: bits([[1]]),
      advantages: [[advantage]],
    },
    { loss: 'bnpo', clip: [0.2, 0.2], delta: 3, entropyCoefficient: 0.1 },
  );
}

test.each([
  // ratio, advantage, loss, slope, metric that counts it
  [1.1, 2, -2.2, -2.2, undefined],
  [1.5, 2, -2.4, 0, 'clip_ratio/region_mean'],
  [0.5, 2, -1, -1, undefined],
  [0.5, -2, 1.6, 0, 'clip_ratio/region_mean'],
  [2.5, -2, 5, 5, undefined],
  [4, -2, 6, 0, 'actor/pg_clipfrac_lower'],
])('ratio %d with advantage %d: loss %d, slope %d', (ratio, advantage, loss, slope, counted) => {
  const { value, dLogprobs, dEntropy, metrics } = single(ratio, advantage);
  expect(value).toBeCloseTo(loss - 0.05, 5);
  expect(dLogprobs[0]![0]).toBeCloseTo(slope, 5);
  expect(dEntropy![0]![0]).toBeCloseTo(-0.1, 6);
  expect(metrics['actor/ppo_kl']).toBeCloseTo(-Math.log(ratio), 5);
  for (const name of ['clip_ratio/region_mean', 'actor/pg_clipfrac_lower']) {
    expect(metrics[name]).toBe(Number(name === counted));
  }
});

test.each([
  // value, old, return, loss, slope
  [1, 1, 3, 2, -2],
  [1.4, 1, 3, 1.28, -1.6],
  // Beyond the bound, on the way to the return: the clipped value is the worse.
  [2, 1, 3, 1.125, 0],
  // Beyond the bound, away from the return: the value itself is.
  [0, 1, 3, 4.5, -3],
])('value %d that was %d, return %d: loss %d, slope %d', (value, old, target, loss, slope) => {
  const {
    value: found,
    dValues,
    metrics,
  } = valueLoss(
    { values: rows([[value]]), oldValues: rows([[old]]), returns: [[target]], mask: bits([[1]]) },
    { valueClip: 0.5 },
  );
  expect(found).toBeCloseTo(loss, 5);
  expect(dValues[0]![0]).toBeCloseTo(slope, 5);
  expect(metrics['critic/vf_clipfrac']).toBe(Number(slope === 0));
});

/** Up to three rows of up to five tokens; ratios between e^−1.5 and e^1.5, so that every bound is met. */
const inputs = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }).chain((lengths) => {
  const each = (min: number, max: number) =>
    fc
      .tuple(
        ...lengths.map((length) =>
          fc.array(fc.double({ min, max, noNaN: true }), { minLength: length, maxLength: length }),
        ),
      )
      .map(rows);
  return fc.record({
    logprobs: each(-2, -0.01),
    oldLogprobs: each(-3.5, -0.5),
    entropy: each(0, 3),
    advantages: each(-2, 2),
    values: each(-2, 2),
    oldValues: each(-2, 2),
    returns: each(-2, 2),
    mask: fc
      .tuple(
        ...lengths.map((length) => fc.array(fc.constantFrom(0, 1), { minLength: length, maxLength: length })),
      )
      .map(bits),
  });
});
type Inputs = typeof inputs extends fc.Arbitrary<infer Value> ? Value : never;
const options = {
  loss: 'bnpo',
  clip: [0.2, 0.28],
  delta: 2,
  entropyCoefficient: 0.3,
  valueClip: 0.5,
} as const;

/** Central differences of `loss` by one array at each token where they are not across a bend of it. */
function expectSlopes(
  given: Inputs,
  name: 'logprobs' | 'entropy' | 'values',
  loss: (given: Inputs) => number,
  found: Rows,
): void {
  const step = 2e-3;
  for (const [b, row] of given[name].entries()) {
    for (const t of row.keys()) {
      const at = (by: number) =>
        loss({
          ...given,
          [name]: given[name].map((each, i) => (i === b ? each.with(t, each[t]! + by) : each)),
        });
      const [left, right] = [(at(0) - at(-step)) / step, (at(step) - at(0)) / step];
      if (Math.abs(left - right) > 0.02) continue;
      expect(Math.abs(found[b]![t]! - (left + right) / 2), `${name}[${b}][${t}]`).toBeLessThan(0.02);
    }
  }
}

test('gradients equal finite differences', () => {
  fc.assert(
    fc.property(inputs, (given) => {
      const { dLogprobs, dEntropy } = policyLoss(given, options);
      expectSlopes(given, 'logprobs', (moved) => policyLoss(moved, options).value, dLogprobs);
      expectSlopes(given, 'entropy', (moved) => policyLoss(moved, options).value, dEntropy!);
      expectSlopes(
        given,
        'values',
        (moved) => valueLoss(moved, options).value,
        valueLoss(given, options).dValues,
      );
    }),
  );
});

test('values at mask 0 change nothing', () => {
  const junk = fc.constantFrom(0, 1e30, -9, Number.NaN, Number.POSITIVE_INFINITY);
  fc.assert(
    fc.property(inputs, junk, (given, written) => {
      const spoil = (values: Rows) =>
        values.map((row, b) => row.map((value, t) => (given.mask[b]![t] === 1 ? value : written)));
      const { mask, ...arrays } = given;
      const spoilt = {
        mask,
        ...Object.fromEntries(Object.entries(arrays).map(([name, values]) => [name, spoil(values)])),
      } as Inputs;
      expect(policyLoss(spoilt, options)).toEqual(policyLoss(given, options));
      expect(valueLoss(spoilt, options)).toEqual(valueLoss(given, options));
    }),
  );
});
