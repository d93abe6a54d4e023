/** The loss against TRL's numbers, its gradient against finite differences, and its blindness to masked tokens. */
import type { Rows } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ClippedLossInputs, type ClippedLossOptions, clippedLoss } from '../src/clipped-loss.ts';

const rows = (values: readonly (readonly number[])[]): Rows => values.map((row) => Float32Array.from(row));
const bits = (values: readonly (readonly number[])[]) => values.map((row) => Uint8Array.from(row));

/** The inputs of the golden numbers, which TRL 1.10's own `_compute_loss` gave. */
const golden: ClippedLossInputs = {
  logprobs: rows([
    [-1, -0.5, -2, -0.7],
    [-0.3, -1.2, -0.9, -1.5],
  ]),
  oldLogprobs: rows([
    [-1.2, -0.5, -1.5, -0.7],
    [-0.9, -1, -0.9, -1.4],
  ]),
  referenceLogprobs: rows([
    [-1.1, -0.6, -1.9, -0.5],
    [-0.4, -1, -1.1, -1.2],
  ]),
  mask: bits([
    [1, 1, 1, 0],
    [1, 1, 0, 0],
  ]),
  advantages: [1, -0.5],
};
const clip = [0.2, 0.28] as const;

test.each([
  ['grpo', { average: 'sequence', beta: 0 }, golden, -0.141216],
  ['dapo', { average: 'token', beta: 0 }, golden, -0.301502],
  ['dapo with the KL penalty', { average: 'token', beta: 0.1 }, golden, -0.30068],
  [
    "dapo with a tool's token masked",
    { average: 'token', beta: 0 },
    {
      ...golden,
      mask: bits([
        [1, 0, 1, 0],
        [1, 1, 0, 0],
      ]),
    },
    -0.126877,
  ],
] as const)("%s equals TRL's value", (_name, options, inputs, expected) => {
  const { value } = clippedLoss(inputs, { clip, ...options });
  expect(Math.abs(value - expected)).toBeLessThan(1e-5);
});

test("dapo's gradient equals TRL's", () => {
  const { dLogprobs } = clippedLoss(golden, { clip, beta: 0, average: 'token' });
  const expected = [
    [-0.24428, -0.2, -0.12131, 0],
    [0.18221, 0.08187, 0, 0],
  ];
  for (const [b, row] of expected.entries()) {
    for (const [t, value] of row.entries()) expect(Math.abs(dLogprobs[b]![t]! - value)).toBeLessThan(1e-5);
  }
});

test('metrics: the share of clipped tokens and the mean of k3', () => {
  // Ratios e^{0.2, 0, −0.5} at A = 1 and e^{0.6, −0.2} at A = −½: none lies beyond its bound.
  expect(clippedLoss(golden, { clip, beta: 0.1, average: 'token' }).metrics['clip_ratio/region_mean']).toBe(
    0,
  );
  const tight = clippedLoss(golden, { clip: [0.1, 0.1], beta: 0.1, average: 'token' });
  // Beyond 1.1 upwards at A > 0, below 0.9 at A < 0.
  expect(tight.metrics['clip_ratio/region_mean']).toBeCloseTo(2 / 5, 6);
  const k3 =
    [-0.1, -0.1, 0.1, -0.1, 0.2].map((d) => Math.exp(d) - d - 1).reduce((sum, value) => sum + value, 0) / 5;
  expect(tight.metrics.kl).toBeCloseTo(k3, 6);
});

const inputs: fc.Arbitrary<ClippedLossInputs> = fc
  .array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 })
  .chain((lengths) => {
    const logprob = fc.double({ min: -4, max: -0.01, noNaN: true });
    const near = fc.double({ min: -0.6, max: 0.6, noNaN: true });
    const row = <T>(value: fc.Arbitrary<T>) =>
      fc.tuple(...lengths.map((length) => fc.array(value, { minLength: length, maxLength: length })));
    return fc
      .tuple(
        row(logprob),
        row(near),
        row(near),
        row(fc.constantFrom(0, 1)),
        row(fc.double({ min: -2, max: 2, noNaN: true })),
      )
      .map(([logprobs, old, reference, mask, advantages]) => ({
        logprobs: rows(logprobs),
        oldLogprobs: rows(logprobs.map((values, b) => values.map((value, t) => value + old[b]![t]!))),
        referenceLogprobs: rows(
          logprobs.map((values, b) => values.map((value, t) => value + reference[b]![t]!)),
        ),
        mask: bits(mask),
        advantages: advantages.map((values) => values[0]!),
      }));
  });
const options: fc.Arbitrary<ClippedLossOptions> = fc.record({
  clip: fc.constantFrom([0.2, 0.2] as const, [0.1, 0.3] as const),
  beta: fc.constantFrom(0, 0.1),
  average: fc.constantFrom('sequence', 'token'),
});

test('the gradient equals finite differences, except where the ratio lies on its bound', () => {
  fc.assert(
    fc.property(inputs, options, (inputs, options) => {
      const { dLogprobs } = clippedLoss(inputs, options);
      for (const [b, row] of inputs.logprobs.entries()) {
        for (const [t, value] of row.entries()) {
          // Log-probabilities are float32: the step is what two neighbours really differ by.
          const up = Math.fround(value + 1e-3);
          const down = Math.fround(value - 1e-3);
          const ratios = [up, value, down].map((at) => Math.exp(at - inputs.oldLogprobs[b]![t]!));
          const bounds = [1 - options.clip[0], 1 + options.clip[1]];
          if (bounds.some((bound) => Math.min(...ratios) <= bound && bound <= Math.max(...ratios))) continue;
          const at = (moved: number) => {
            const logprobs = inputs.logprobs.map((other, index) =>
              index === b ? other.with(t, moved) : other,
            );
            return clippedLoss({ ...inputs, logprobs }, options).value;
          };
          expect(dLogprobs[b]![t]).toBeCloseTo((at(up) - at(down)) / (up - down), 4);
        }
      }
    }),
  );
});

test('what stands at mask 0 changes nothing', () => {
  const garbage = fc.constantFrom(
    0,
    1e30,
    -1e30,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  );
  fc.assert(
    fc.property(inputs, options, garbage, (inputs, options, value) => {
      const spoil = (rows: Rows) =>
        rows.map((row, b) => row.map((kept, t) => (inputs.mask[b]![t] === 1 ? kept : value)));
      const spoilt = {
        ...inputs,
        logprobs: spoil(inputs.logprobs),
        oldLogprobs: spoil(inputs.oldLogprobs),
        referenceLogprobs: spoil(inputs.referenceLogprobs!),
      };
      const found = clippedLoss(spoilt, options);
      expect(found).toEqual(clippedLoss(inputs, options));
      for (const [b, row] of found.dLogprobs.entries()) {
        for (const [t, gradient] of row.entries()) if (inputs.mask[b]![t] === 0) expect(gradient).toBe(0);
      }
    }),
  );
});

test('a batch in which everything is masked has loss 0 and no gradient', () => {
  for (const average of ['sequence', 'token'] as const) {
    const masked = { ...golden, mask: golden.mask.map((row) => row.map(() => 0)) };
    const { value, dLogprobs, metrics } = clippedLoss(masked, { clip, beta: 0.1, average });
    expect(value).toBe(0);
    expect(dLogprobs.every((row) => row.every((gradient) => gradient === 0))).toBe(true);
    expect(metrics).toEqual({ 'clip_ratio/region_mean': 0, kl: 0 });
  }
});

test('strictly on-policy, the gradient is the plain policy gradient: −A over the number of tokens', () => {
  const { dLogprobs } = clippedLoss(
    { ...golden, oldLogprobs: golden.logprobs },
    { clip, beta: 0, average: 'token' },
  );
  expect([...dLogprobs[0]!].map((value) => value.toFixed(6))).toEqual([
    '-0.200000',
    '-0.200000',
    '-0.200000',
    '0.000000',
  ]);
  expect([...dLogprobs[1]!].map((value) => value.toFixed(6))).toEqual([
    '0.100000',
    '0.100000',
    '0.000000',
    '0.000000',
  ]);
});
