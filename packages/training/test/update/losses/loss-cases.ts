/** Inputs of the losses: those of the golden numbers, and random ones. */
import type { Rows } from '@toolenv/core/learner';
import fc from 'fast-check';
import type { PolicyLossInputs } from '../../../src/update/losses/policy-loss.ts';

export const rows = (values: readonly (readonly number[])[]): Rows =>
  values.map((row) => Float32Array.from(row));
export const bits = (values: readonly (readonly number[])[]): Uint8Array[] =>
  values.map((row) => Uint8Array.from(row));

/** The inputs of the golden numbers, which TRL 1.10's own `_compute_loss` gave, with ε = (.2, .28) and max length 8. */
export const golden = {
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
  advantages: rows([
    [1, 1, 1, 1],
    [-0.5, -0.5, -0.5, -0.5],
  ]),
} satisfies PolicyLossInputs;

/** Up to four rows of up to six tokens; ratios between e^−0.6 and e^0.6; an advantage for each token. */
export const randomInputs: fc.Arbitrary<Required<Omit<PolicyLossInputs, 'episodes'>>> = fc
  .array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 })
  .chain((lengths) => {
    const each = <T>(value: fc.Arbitrary<T>) =>
      fc.tuple(...lengths.map((length) => fc.array(value, { minLength: length, maxLength: length })));
    const near = each(fc.double({ min: -0.6, max: 0.6, noNaN: true }));
    return fc
      .record({
        logprobs: each(fc.double({ min: -4, max: -0.01, noNaN: true })),
        old: near,
        sampled: near,
        reference: near,
        entropy: each(fc.double({ min: 0.01, max: 3, noNaN: true })),
        mask: each(fc.constantFrom(0, 1)),
        advantages: each(fc.double({ min: -2, max: 2, noNaN: true })),
      })
      .map(({ logprobs, old, sampled, reference, entropy, mask, advantages }) => {
        const moved = (by: number[][]) =>
          rows(logprobs.map((row, b) => row.map((value, t) => value + by[b]![t]!)));
        return {
          logprobs: rows(logprobs),
          oldLogprobs: moved(old),
          sampledLogprobs: moved(sampled),
          referenceLogprobs: moved(reference),
          entropy: rows(entropy),
          mask: bits(mask),
          advantages: rows(advantages),
        };
      });
  });
