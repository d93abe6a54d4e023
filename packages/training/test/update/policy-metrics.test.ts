/** Entropy, ratios and distances of an update, beside numbers computed by hand. */

import { expect, test } from 'vitest';
import { samplerMetrics } from '../../src/index.ts';
import { klToReference, policyMetrics } from '../../src/update/policy-metrics.ts';

const rows = (...values: number[][]) => values.map((row) => Float32Array.from(row));
const mask = [Uint8Array.of(0, 1, 1), Uint8Array.of(0, 1, 0)];
// Values at mask 0 would spoil every number.
const logprobs = rows([9, Math.log(0.5), Math.log(0.2)], [9, Math.log(0.8), 9]);
const oldLogprobs = rows([-9, Math.log(0.25), Math.log(0.4)], [-9, Math.log(0.8), -9]);
const entropy = rows([9, 1, 2], [9, 0.6, 9]);

test('ratios and entropy are of the tokens that the policy wrote', () => {
  expect(policyMetrics({ logprobs, oldLogprobs, mask, entropy })).toEqual({
    'ratio/mean': expect.closeTo(3.5 / 3, 6),
    'ratio/min': expect.closeTo(0.5, 6),
    'ratio/max': expect.closeTo(2, 6),
    entropy: expect.closeTo(1.2, 6),
  });
});

test('the entropy of the backward pass stands in for that of a forward pass', () => {
  const step = { logprobs, oldLogprobs: logprobs, mask };
  expect(policyMetrics({ ...step, outputs: { logprobs, entropy } }).entropy).toBeCloseTo(1.2, 6);
  expect(
    policyMetrics({ ...step, entropy, outputs: { logprobs, entropy: rows([0, 0, 0], [0, 0, 0]) } }).entropy,
  ).toBeCloseTo(1.2, 6);
  expect(policyMetrics(step)).toEqual({ 'ratio/mean': 1, 'ratio/min': 1, 'ratio/max': 1 });
});

test('the sampler is as far as its log-probabilities differ', () => {
  const k3 = (d: number) => Math.exp(d) - d - 1;
  expect(samplerMetrics(logprobs, oldLogprobs, mask)).toEqual({
    'sampling/sampling_logp_difference/mean': expect.closeTo((2 * Math.log(2)) / 3, 6),
    'sampling/sampling_logp_difference/max': expect.closeTo(Math.log(2), 6),
    'rollout_corr/k3_kl': expect.closeTo((k3(Math.log(2)) + k3(-Math.log(2))) / 3, 6),
  });
});

test('the KL to the start looks at every fourth row only', async () => {
  const eight = Array.from({ length: 8 }, (_, row) => ({
    tokens: Int32Array.of(row, 1),
    mask: Uint8Array.of(0, 1),
  }));
  const seen: number[] = [];
  const start = {
    forward: async (batch: { rows: { tokens: Int32Array }[]; temperature?: number }) => {
      seen.push(...batch.rows.map(({ tokens }) => tokens[0]!), batch.temperature!);
      const outputs = batch.rows.map(() => Float32Array.of(0, Math.log(0.25)));
      return { logprobs: outputs, entropy: outputs };
    },
  };
  const policy = eight.map(() => Float32Array.of(0, Math.log(0.5)));
  // d = log ½: e^d − d − 1.
  expect(await klToReference(start, eight, policy, 0.7)).toBeCloseTo(0.5 + Math.log(2) - 1, 6);
  expect(seen).toEqual([0, 4, 0.7]);
});
