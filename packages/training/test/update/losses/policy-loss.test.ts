/** The losses against TRL's numbers, their gradients against finite differences, and their blindness to masked tokens. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rows } from '@toolenv/core/learner';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Clipping } from '../../../src/update/losses/losses.ts';
import {
  type PolicyLossInputs,
  type PolicyLossOptions,
  policyLoss,
} from '../../../src/update/losses/policy-loss.ts';
import type { MismatchCorrection } from '../../../src/update/losses/sampler-mismatch.ts';
import { completionMask } from '../../../src/update/token-masks.ts';
import { bits, golden, randomInputs, rows } from './loss-cases.ts';

const clip = [0.2, 0.28] as const;
/** The third token of row 0 is the environment's. */
const toolMask = bits([
  [1, 0, 1, 0],
  [1, 1, 0, 0],
]);

test.each<[string, PolicyLossOptions, number]>([
  ['grpo', { loss: 'grpo', clip }, -0.141216],
  ['gspo', { loss: 'grpo', clip, ratioLevel: 'sequence' }, -0.147068],
  ['bnpo', { loss: 'bnpo', clip }, -0.301502],
  ['dapo', { loss: 'dapo', clip }, -0.301502],
  ['dapo at the level of the sequence', { loss: 'dapo', clip, ratioLevel: 'sequence' }, -0.298622],
  ['dr_grpo', { loss: 'dr_grpo', clip, maxLength: 8 }, -0.094219],
  ['dapo with β = .1', { loss: 'dapo', clip, beta: 0.1, biasCorrectedKl: false }, -0.30068],
  ['cispo with ε_high = 5', { loss: 'cispo', clip, ratioCap: 5 }, 0.433982],
])('%s equals the golden value', (_name, options, expected) => {
  expect(Math.abs(policyLoss(golden, options).value - expected)).toBeLessThan(1e-5);
});

test("dapo with a tool's token masked, and with that mask removed as the ablation does", () => {
  const masked = policyLoss({ ...golden, mask: toolMask }, { loss: 'dapo', clip });
  expect(Math.abs(masked.value - -0.126877)).toBeLessThan(1e-5);
  const unmasked = policyLoss({ ...golden, mask: toolMask.map(completionMask) }, { loss: 'dapo', clip });
  expect(Math.abs(unmasked.value - -0.301502)).toBeLessThan(1e-5);
});

test("dapo's gradient equals the golden one", () => {
  const { dLogprobs } = policyLoss(golden, { loss: 'dapo', clip });
  const expected = [
    [-0.24428, -0.2, -0.12131, 0],
    [0.18221, 0.08187, 0, 0],
  ];
  for (const [b, row] of expected.entries()) {
    for (const [t, value] of row.entries()) expect(Math.abs(dLogprobs[b]![t]! - value)).toBeLessThan(1e-5);
  }
});

/** 54 losses of one batch, values, gradients and metrics, made by golden/make-golden.py. */
const trl = JSON.parse(readFileSync(join(import.meta.dirname, 'golden', 'losses.json'), 'utf8')) as {
  inputs: Record<Exclude<keyof PolicyLossInputs, 'mask'>, number[][]>;
  mask: number[][];
  cases: {
    options: PolicyLossOptions;
    value: number;
    dLogprobs: number[][];
    dEntropy?: number[][];
    metrics: Record<string, number>;
  }[];
};
const title = (options: PolicyLossOptions) =>
  Object.entries(options)
    .filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(trl.cases[0]!.options[name as 'loss']),
    )
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

test.each(trl.cases.map((one) => [title(one.options) || 'grpo', one] as const))(
  'TRL: %s: value, gradients and metrics',
  (_title, { options, value, dLogprobs, dEntropy, metrics }) => {
    const arrays = Object.fromEntries(
      Object.entries(trl.inputs).map(([name, values]) => [name, rows(values)]),
    );
    const inputs = { ...arrays, mask: bits(trl.mask) } as unknown as PolicyLossInputs;
    const found = policyLoss(inputs, options);
    expect(Math.abs(found.value - value)).toBeLessThan(1e-5);
    for (const [name, expected] of Object.entries({ dLogprobs, dEntropy })) {
      for (const [b, row] of (expected ?? []).entries()) {
        for (const [t, slope] of row.entries()) {
          expect(Math.abs(found[name as 'dLogprobs'][b]![t]! - slope)).toBeLessThan(1e-5);
        }
      }
    }
    for (const [name, expected] of Object.entries(metrics)) {
      // At the level of the sequence TRL counts clipped rows.
      if (name.includes('clip') && options.ratioLevel === 'sequence') continue;
      expect(found.metrics[name], name).toBeCloseTo(expected, 5);
    }
  },
);

test('sapo equals its formula −(4/τ)·σ(τ(w − 1))·A, averaged as grpo', () => {
  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
  const first = [0.2, 0, -0.5].map((d) => -4 * sigmoid(Math.exp(d) - 1));
  const second = [0.6, -0.2].map((d) => (4 / 1.05) * 0.5 * sigmoid(1.05 * (Math.exp(d) - 1)));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const { value } = policyLoss(golden, { loss: 'sapo', clip });
  expect(value).toBeCloseTo(mean([mean(first), mean(second)]), 6);
});

test('dapo and cispo average over the tokens of the whole step, bnpo over those of the batch', () => {
  for (const loss of ['dapo', 'cispo'] as const) {
    const whole = policyLoss(golden, { loss, clip }).value;
    const parts = [0, 1].map((b) => {
      const part = Object.fromEntries(
        Object.entries(golden).map(([name, values]) => [name, [values[b]]]),
      ) as unknown as PolicyLossInputs;
      return policyLoss(part, { loss, clip, stepTokens: 5 }).value;
    });
    expect(parts[0]! + parts[1]!).toBeCloseTo(whole, 6);
  }
});

test('dual clip bounds the loss of a token with a negative advantage, which then has no gradient', () => {
  const one = (difference: number, advantage: number, delta?: number) => {
    const inputs = { logprobs: rows([[difference - 9]]), oldLogprobs: rows([[-9]]), mask: bits([[1]]) };
    return policyLoss({ ...inputs, advantages: [[advantage]] }, { loss: 'dapo', clip: [0.2, 0.2], delta });
  };
  expect(one(2, -1).value).toBeCloseTo(Math.exp(2), 4);
  expect(one(2, -1, 3).value).toBeCloseTo(3, 6);
  expect(one(2, -1, 3).dLogprobs[0]![0]).toBeCloseTo(0, 12);
  // Below c, and for a good token, it changes nothing.
  for (const [difference, advantage] of [
    [1, -1],
    [2, 1],
    [-2, -1],
  ] as const) {
    expect(one(difference, advantage, 3)).toEqual(one(difference, advantage));
  }
});

test('metrics: the shares of clipped tokens, the mean of the KL estimate, the mean entropy', () => {
  // Ratios e^{0.2, 0, −0.5} at A = 1 and e^{0.6, −0.2} at A = −½: none lies beyond its bound.
  const options = { loss: 'dapo', beta: 0.1, biasCorrectedKl: false } as const;
  expect(policyLoss(golden, { ...options, clip }).metrics['clip_ratio/region_mean']).toBe(0);
  const entropy = golden.logprobs.map((row) => row.map((value) => -value));
  const { metrics } = policyLoss({ ...golden, entropy }, { ...options, clip: [0.1, 0.1] });
  // Beyond 1.1 upwards at A > 0, below 0.9 at A < 0.
  expect(metrics['clip_ratio/high_mean']).toBeCloseTo(1 / 5, 6);
  expect(metrics['clip_ratio/low_mean']).toBeCloseTo(1 / 5, 6);
  expect(metrics['clip_ratio/region_mean']).toBeCloseTo(2 / 5, 6);
  const k3 = [-0.1, -0.1, 0.1, -0.1, 0.2].map((d) => Math.exp(d) - d - 1);
  expect(metrics.kl).toBeCloseTo(k3.reduce((sum, value) => sum + value, 0) / 5, 6);
  expect(metrics.entropy).toBeCloseTo((1 + 0.5 + 2 + 0.3 + 1.2) / 5, 6);
});

test('the entropy bonus lowers the loss by the mean entropy, and its gradient raises entropy', () => {
  const entropy = golden.logprobs.map((row) => row.map((value) => -value));
  const with01 = policyLoss({ ...golden, entropy }, { loss: 'dapo', clip, entropyCoefficient: 0.1 });
  expect(with01.value).toBeCloseTo(policyLoss(golden, { loss: 'dapo', clip }).value - 0.1, 6);
  const asPlain = with01.dEntropy!.map((row) => [...row].map((value) => Number(value.toFixed(6))));
  expect(asPlain).toEqual([
    [-0.02, -0.02, -0.02, 0],
    [-0.02, -0.02, 0, 0],
  ]);
});

test('the entropy mask keeps the top quantile; the average still counts all tokens', () => {
  const entropy = rows([
    [1, 3, 2, 99],
    [5, 4, 99, 99],
  ]);
  const { dLogprobs } = policyLoss({ ...golden, entropy }, { loss: 'dapo', clip, topEntropyQuantile: 0.4 });
  // The 0.6-quantile of 1…5 is 3.4: entropies 5 and 4 stay.
  expect([...dLogprobs[0]!]).toEqual([0, 0, 0, 0]);
  expect(dLogprobs[1]![0]).toBeCloseTo(0.18221, 5);
  expect(dLogprobs[1]![1]).toBeCloseTo(0.08187, 5);
});

test('corrects sampler mismatch by truncating or masking, per token or per row', () => {
  // old − sampled: log 2 and log 4 in row 0, log ½ and 0 in row 1; whole rows 8 and ½.
  const logprobs = rows([
    [-5, -5],
    [-5, -5],
  ]);
  const by = [
    [Math.log(2), Math.log(4)],
    [Math.log(0.5), 0],
  ];
  const sampledLogprobs = rows(by.map((row) => row.map((value) => -5 - value)));
  const inputs = {
    ...{ logprobs, oldLogprobs: logprobs, sampledLogprobs },
    mask: bits([
      [1, 1],
      [1, 1],
    ]),
    advantages: rows([
      [1, 1],
      [1, 1],
    ]),
  };
  const weightsWith = (mismatchCorrection: PolicyLossOptions['mismatchCorrection']) => {
    const { dLogprobs, metrics } = policyLoss(inputs, { loss: 'dapo', clip, mismatchCorrection });
    const weights = dLogprobs.map((row) => [...row].map((slope) => Number((-4 * slope).toFixed(5)) + 0));
    return { weights, metrics };
  };
  expect(weightsWith(undefined).weights.flat()).toEqual([1, 1, 1, 1]);
  expect(weightsWith('token_truncate').weights.flat()).toEqual([2, 3, 0.5, 1]);
  expect(weightsWith('token_mask').weights.flat()).toEqual([2, 0, 0.5, 1]);
  expect(weightsWith('sequence_truncate').weights.flat()).toEqual([3, 3, 0.5, 0.5]);
  expect(weightsWith('sequence_mask').weights.flat()).toEqual([0, 0, 0.5, 0.5]);
  const { metrics } = weightsWith('token_truncate');
  expect(metrics['sampling/importance_sampling_ratio/max']).toBe(3);
  expect(metrics['sampling/importance_sampling_ratio/mean']).toBeCloseTo(6.5 / 4, 5);
  expect(metrics['sampling/sampling_logp_difference/max']).toBeCloseTo(Math.log(4), 5);
});

test('the off-policy mask leaves out unlikely tokens with a negative advantage only', () => {
  const inputs = {
    logprobs: rows([[-2], [-2], [-1.1]]),
    oldLogprobs: rows([[-2], [-2], [-1.1]]),
    sampledLogprobs: rows([[-1], [-1], [-1]]),
    mask: bits([[1], [1], [1]]),
    advantages: [[-1], [1], [-1]],
  };
  const { dLogprobs } = policyLoss(inputs, { loss: 'dapo', clip, offPolicyThreshold: 0.5 });
  const slopes = dLogprobs.map(([slope]) => slope! + 0);
  expect(slopes[0]).toBe(0);
  expect(slopes[1]).toBeCloseTo(-1 / 3, 6);
  expect(slopes[2]).toBeCloseTo(1 / 3, 6);
});

describe('k1, k2 and k3 in the loss', () => {
  const one = (
    difference: number,
    klEstimator: 'k1' | 'k2' | 'k3',
    klClamp = 10,
    biasCorrectedKl = false,
  ) => {
    const inputs = { logprobs: rows([[-30]]), oldLogprobs: rows([[-30]]), mask: bits([[1]]) };
    const { value, dLogprobs } = policyLoss(
      { ...inputs, referenceLogprobs: rows([[-30 + difference]]), advantages: [[0]] },
      { loss: 'dapo', clip, beta: 1, klEstimator, klClamp, biasCorrectedKl },
    );
    return { value, slope: dLogprobs[0]![0]! };
  };

  test('have the values of their formulas', () => {
    expect(one(-0.5, 'k1').value).toBeCloseTo(0.5, 6);
    expect(one(-0.5, 'k2').value).toBeCloseTo(0.125, 6);
    expect(one(-0.5, 'k3').value).toBeCloseTo(Math.exp(-0.5) - 0.5, 6);
  });

  test('grow in a straight line beyond the bound, so that a token that has run away is pulled back', () => {
    // d²/2 is 10 at ±√20, where the slope is √20.
    const root = Math.sqrt(20);
    expect(one(20, 'k2').slope).toBeCloseTo(-root, 6);
    expect(one(20, 'k2').value).toBeCloseTo(10 + root * (20 - root), 6);
    expect(one(-20, 'k2').slope).toBeCloseTo(root, 6);
    // e^d − d − 1 is 10 at 2.611, where the slope is 1 − e^2.611 = 1 − 11 − 2.611.
    expect(one(20, 'k3').slope).toBeCloseTo(-12.611, 3);
    expect(one(20, 'k3').value).toBeCloseTo(10 + 12.611 * (20 - 2.611), 2);
    expect(one(-20, 'k3').value).toBeCloseTo(19, 3);
    expect(one(20, 'k1')).toEqual({ value: -20, slope: 1 });
    expect(one(3, 'k3', 0)).toEqual({ value: expect.closeTo(0, 6), slope: expect.closeTo(0, 6) });
  });

  test.each([-20, -0.5, 0, 0.5, 20])(
    'at a log-ratio of %d, the corrected gradient is that of the reverse KL',
    (d) => {
      for (const [estimator, slope] of [
        ['k1', 1 - d],
        ['k2', -d],
        ['k3', -d],
      ] as const)
        expect(one(d, estimator, 10, true)).toEqual({
          value: one(d, estimator).value,
          slope: expect.closeTo(slope, 5),
        });
    },
  );

  test('the corrected gradient is the gradient of the KL, on average over the tokens', () => {
    // Three tokens, each sampled as often as the policy has it.
    const [policy, reference] = [
      [0.5, 0.3, 0.2],
      [0.2, 0.2, 0.6],
    ];
    const kl = (logits: number[]) => {
      const total = logits.reduce((sum, value) => sum + Math.exp(value), 0);
      const shares = logits.map((value) => Math.exp(value) / total);
      return shares.reduce((sum, p, i) => sum + p * Math.log(p / reference[i]!), 0);
    };
    const logits = policy.map(Math.log);
    const slopes = policy.map((p, i) => one(Math.log(reference[i]! / p), 'k3', 10, true).slope);
    const uncorrected = policy.map((p, i) => one(Math.log(reference[i]! / p), 'k3').slope);
    for (const [j, p] of policy.entries()) {
      // ∂ log p_i / ∂ logit_j = [i = j] − p_j.
      const gradientOf = (each: number[]) =>
        policy.reduce((sum, q, i) => sum + q * each[i]! * (Number(i === j) - p), 0);
      const step = 1e-4;
      const difference = kl(logits.with(j, logits[j]! + step)) - kl(logits.with(j, logits[j]! - step));
      expect(gradientOf(slopes)).toBeCloseTo(difference / (2 * step), 5);
      expect(Math.abs(gradientOf(uncorrected) - difference / (2 * step))).toBeGreaterThan(0.01);
    }
  });
});

const options: fc.Arbitrary<PolicyLossOptions & Clipping & { loss: string }> = fc
  .record({
    loss: fc.constantFrom('grpo', 'bnpo', 'dr_grpo', 'dapo', 'cispo', 'sapo', 'vespo', 'luspo'),
    maxLength: fc.constant(8),
    clip: fc.constantFrom([0.2, 0.2] as const, [0.1, 0.3] as const),
    delta: fc.constantFrom(undefined, 1.5),
    ratioLevel: fc.constantFrom('token', 'sequence'),
    ratioCap: fc.constantFrom(1.2, 5),
    beta: fc.constantFrom(0, 0.1),
    klEstimator: fc.constantFrom('k1', 'k2', 'k3'),
    biasCorrectedKl: fc.boolean(),
    entropyCoefficient: fc.constantFrom(0, 0.05),
    topEntropyQuantile: fc.constantFrom(1, 0.5),
    mismatchCorrection: fc.constantFrom(
      undefined,
      'token_truncate',
      'token_mask',
      'sequence_truncate',
      'sequence_mask',
    ),
    mismatchCap: fc.constantFrom(1.2, 3),
    offPolicyThreshold: fc.constantFrom(undefined, 0.1),
  })
  // vespo refuses corrections per sequence.
  .filter(({ loss, mismatchCorrection }) => loss !== 'vespo' || !mismatchCorrection?.startsWith('sequence'));

/** Log-ratios as the loss sees them. */
function logRatios({ logprobs, oldLogprobs, mask }: PolicyLossInputs, ratioLevel = 'token'): number[] {
  return logprobs.flatMap((row, b) => {
    const kept = [...row.keys()].filter((t) => mask[b]![t] === 1);
    const each = kept.map((t) => row[t]! - oldLogprobs[b]![t]!);
    if (ratioLevel === 'token') return each;
    return each.length === 0 ? [] : [each.reduce((sum, value) => sum + value, 0) / each.length];
  });
}

test.each(['sequence_truncate', 'sequence_mask'] as const)(
  'vespo refuses %s, which it would count once per token',
  (correction) => {
    // 20 tokens that the learner finds 0.02 nats less likely than the sampler did.
    const flat = (value: number) => rows([Array<number>(20).fill(value)]);
    const inputs = {
      ...{ logprobs: flat(-1.02), oldLogprobs: flat(-1.02), sampledLogprobs: flat(-1) },
      ...{ mask: [new Uint8Array(20).fill(1)], advantages: flat(1) },
    };
    const ofVespo = (mismatchCorrection?: MismatchCorrection) =>
      policyLoss(inputs, { loss: 'vespo', mismatchCorrection, mismatchCap: 3 });
    expect(() => ofVespo(correction)).toThrowError(
      expect.objectContaining({
        code: 'usage.bad_option',
        message: `policyLoss: option "mismatchCorrection": the loss vespo multiplies the weights of all tokens itself: give token_truncate or token_mask instead of ${correction}.`,
      }),
    );
    // φ(e^−0.4) with k = 2 and λ = 3, over 20 tokens.
    const weight = Math.exp(3 + 2 * -0.4 - 3 * Math.exp(-0.4));
    expect(ofVespo('token_truncate').dLogprobs[0]![0]).toBeCloseTo(-weight / 20, 5);
  },
);

function meanDrifts({ logprobs, sampledLogprobs, mask }: PolicyLossInputs): number[] {
  return logprobs.map((row, b) => {
    const kept = [...row.keys()].filter((t) => mask[b]![t] === 1);
    return kept.reduce((sum, t) => sum + sampledLogprobs![b]![t]! - row[t]!, 0) / Math.max(kept.length, 1);
  });
}

test('gradients equal finite differences, except on a bound', () => {
  fc.assert(
    fc.property(randomInputs, options, (inputs, given) => {
      // The weights of these losses are constants to the gradient.
      const hasConstantWeights = ['cispo', 'vespo'].includes(given.loss);
      // So is the ratio to k2.
      const mayCorrect = !hasConstantWeights && given.klEstimator !== 'k2';
      const options = { ...given, biasCorrectedKl: given.biasCorrectedKl && mayCorrect };
      const { dLogprobs } = policyLoss(inputs, options);
      for (const [b, row] of inputs.logprobs.entries()) {
        for (const [t, value] of row.entries()) {
          // Log-probabilities are float32: the step is what two neighbours really differ by.
          const up = Math.fround(value + 1e-3);
          const down = Math.fround(value - 1e-3);
          const moved = (to: number): PolicyLossInputs => {
            const move = (rows: Rows, by: number) =>
              rows.map((other, index) => (index === b ? other.with(t, other[t]! + by) : other));
            const logprobs = inputs.logprobs.map((other, index) => (index === b ? other.with(t, to) : other));
            if (!hasConstantWeights) return { ...inputs, logprobs };
            // The weights stay if the old log-probability moves along.
            const sampledLogprobs = move(inputs.sampledLogprobs, to - value);
            return {
              ...inputs,
              logprobs,
              oldLogprobs: move(inputs.oldLogprobs, to - value),
              sampledLogprobs,
            };
          };
          const [above, below] = [moved(up), moved(down)];
          const bounds = [...[1 - options.clip[0], 1 + options.clip[1], options.delta ?? 9].map(Math.log)];
          const [high, low] = [above, below].map((moved) => logRatios(moved, options.ratioLevel));
          const [near, far] = [above, below].map(meanDrifts);
          const crosses = (one: number[], other: number[], bound: number) =>
            one.some((value, i) => Math.sign(value - bound) !== Math.sign(other[i]! - bound));
          if (bounds.some((bound) => crosses(high!, low!, bound))) continue;
          if (options.offPolicyThreshold && crosses(near!, far!, options.offPolicyThreshold)) continue;
          const slope = (policyLoss(above, options).value - policyLoss(below, options).value) / (up - down);
          // An old log-probability that is moved along is rounded to float32 too.
          expect(Math.abs(dLogprobs[b]![t]! - slope)).toBeLessThan(hasConstantWeights ? 4e-3 : 1e-4);
        }
      }
    }),
    { numRuns: 400 },
  );
});

test('the gradient by entropy equals finite differences', () => {
  fc.assert(
    fc.property(randomInputs, options, (inputs, options) => {
      // With a quantile, moving an entropy would move the mask.
      const whole = { ...options, entropyCoefficient: 0.05, topEntropyQuantile: 1 };
      const { dEntropy } = policyLoss(inputs, whole);
      for (const [b, row] of inputs.entropy.entries()) {
        for (const t of row.keys()) {
          const at = (by: number) => {
            const entropy = inputs.entropy.map((other, i) =>
              i === b ? other.with(t, other[t]! + by) : other,
            );
            return policyLoss({ ...inputs, entropy }, whole).value;
          };
          expect(Math.abs(dEntropy![b]![t]! - (at(0.25) - at(-0.25)) / 0.5)).toBeLessThan(1e-6);
        }
      }
    }),
  );
});

test('log-probabilities, entropies and advantages at mask 0 change nothing', () => {
  const garbage = fc.constantFrom(
    0,
    1e30,
    -1e30,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  );
  fc.assert(
    fc.property(randomInputs, options, garbage, (inputs, options, value) => {
      const { mask, ...arrays } = inputs;
      const spoil = (rows: readonly ArrayLike<number>[]) =>
        rows.map((row, b) => Float32Array.from(row, (kept, t) => (mask[b]![t] === 1 ? kept : value)));
      const spoilt = Object.fromEntries(
        Object.entries(arrays as unknown as Record<string, Rows>).map(([name, rows]) => [name, spoil(rows)]),
      ) as unknown as PolicyLossInputs;
      const found = policyLoss({ ...spoilt, mask }, options);
      expect(found).toEqual(policyLoss(inputs, options));
      for (const rows of [found.dLogprobs, found.dEntropy ?? []]) {
        for (const [b, row] of rows.entries()) {
          for (const [t, gradient] of row.entries()) if (mask[b]![t] === 0) expect(gradient).toBe(0);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('a fully masked batch has loss 0 and no gradient', () => {
  fc.assert(
    fc.property(randomInputs, options, (inputs, options) => {
      const mask = inputs.mask.map((row) => row.map(() => 0));
      const { value, dLogprobs, dEntropy = [], metrics } = policyLoss({ ...inputs, mask }, options);
      expect(value).toBe(0);
      expect([...dLogprobs, ...dEntropy].every((row) => row.every((slope) => slope === 0))).toBe(true);
      expect(Object.values(metrics).every((metric) => metric === 0)).toBe(true);
    }),
  );
});

test.each(['bnpo', 'dapo', 'cispo', 'sapo'] as const)(
  'strictly on-policy, the gradient of %s is the plain policy gradient',
  (loss) => {
    const inputs = { ...golden, oldLogprobs: golden.logprobs };
    const { dLogprobs } = policyLoss(inputs, { loss, clip });
    // −A over the number of tokens; sapo averages rows of three and of two.
    const [first, second] = loss === 'sapo' ? [1 / 6, 0.5 / 4] : [1 / 5, 0.5 / 5];
    const expected = [
      [-first, -first, -first, 0],
      [second, second, 0, 0],
    ];
    for (const [b, row] of expected.entries()) {
      for (const [t, value] of row.entries()) expect(dLogprobs[b]![t]).toBeCloseTo(value, 6);
    }
  },
);

test.each([{ entropyCoefficient: 0.1 }, { topEntropyQuantile: 0.5 }])(
  '%j without an entropy is refused',
  (option) => {
    expect(golden).not.toHaveProperty('entropy');
    expect(() => policyLoss(golden, { loss: 'grpo', clip, ...option })).toThrow(
      expect.objectContaining({ code: 'usage.no_entropy' }),
    );
    expect(policyLoss(golden, { loss: 'grpo', clip }).metrics).not.toHaveProperty('entropy');
  },
);
