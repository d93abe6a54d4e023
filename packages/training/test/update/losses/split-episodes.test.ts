/** An episode weighs the same in every loss, however its tokens are divided into rows. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { losses } from '../../../src/update/losses/losses.ts';
import {
  type PolicyLossInputs,
  type PolicyLossOptions,
  policyLoss,
} from '../../../src/update/losses/policy-loss.ts';
import { bits, golden, randomInputs, rows } from './loss-cases.ts';

type Inputs = Required<Omit<PolicyLossInputs, 'episodes'>>;

const options: fc.Arbitrary<PolicyLossOptions> = fc
  .record({
    loss: fc.constantFrom(...Object.keys(losses)),
    ...{ maxLength: fc.constant(8), clip: fc.constantFrom([0.2, 0.2], [0.05, 0.3]) },
    ratioLevel: fc.constantFrom(undefined, 'token', 'sequence'),
    beta: fc.constantFrom(0, 0.1),
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
    mismatchFloor: fc.constantFrom(0, 0.8),
    offPolicyThreshold: fc.constantFrom(undefined, 0.1),
  })
  // vespo refuses corrections per sequence.
  .filter(({ loss, mismatchCorrection }) => loss !== 'vespo' || !mismatchCorrection?.startsWith('sequence'));

/** A row that has the tokens of an episode from `begin` up to `end`, after the tokens before it, which it does not learn. */
interface Part {
  episode: number;
  begin: number;
  end: number;
  /** Whether it has the tokens before `begin` too, with mask 0. */
  isBranch: boolean;
}

/** Divides each row of the inputs, which is an episode, at up to three places. */
function split(inputs: Inputs, cuts: readonly number[], isBranch: boolean): Part[] {
  return inputs.mask.flatMap(({ length }, episode) => {
    const edges = [...new Set([0, ...cuts.map((cut) => cut % (length + 1)), length])].sort((a, b) => a - b);
    return edges.slice(1).map((end, i) => ({ episode, begin: edges[i]!, end, isBranch }));
  });
}

function divided(inputs: Inputs, parts: readonly Part[]): PolicyLossInputs {
  const of = (values: readonly ArrayLike<number>[], before?: 0) =>
    parts.map(({ episode, begin, end, isBranch }) => {
      const whole = Array.from(values[episode]!);
      const past = whole.slice(0, begin).map((value) => before ?? value);
      return [...(isBranch ? past : []), ...whole.slice(begin, end)];
    });
  return {
    logprobs: rows(of(inputs.logprobs)),
    oldLogprobs: rows(of(inputs.oldLogprobs)),
    sampledLogprobs: rows(of(inputs.sampledLogprobs)),
    referenceLogprobs: rows(of(inputs.referenceLogprobs)),
    entropy: rows(of(inputs.entropy)),
    advantages: of(inputs.advantages),
    mask: bits(of(inputs.mask, 0)),
    episodes: parts.map(({ episode }) => episode),
  };
}

/** [N][T] the gradients of rows, added up by the token that they belong to. */
function together(gradients: readonly Float32Array[], parts: readonly Part[], like: Inputs): number[][] {
  const sums = like.mask.map((row) => new Array<number>(row.length).fill(0));
  for (const [b, { episode, begin, isBranch }] of parts.entries()) {
    for (const [t, slope] of gradients[b]!.entries()) {
      sums[episode]![t + (isBranch ? 0 : begin)]! += slope;
    }
  }
  return sums;
}

test('splitting an episode into rows, with or without the tokens before, changes no loss of any kind', () => {
  const cuts = fc.array(fc.nat(6), { maxLength: 3 });
  fc.assert(
    fc.property(randomInputs, options, cuts, fc.boolean(), (inputs, options, cuts, isBranch) => {
      const whole = policyLoss(inputs, options);
      const parts = split(inputs, cuts, isBranch);
      const found = policyLoss(divided(inputs, parts), options);
      expect(Math.abs(found.value - whole.value)).toBeLessThan(1e-12);
      for (const name of ['dLogprobs', 'dEntropy'] as const) {
        const sums = together(found[name] ?? [], found[name] ? parts : [], inputs);
        for (const [n, row] of (whole[name] ?? []).entries()) {
          for (const [t, slope] of row.entries()) {
            expect(Math.abs(sums[n]![t]! - slope)).toBeLessThan(1e-12);
          }
        }
      }
      for (const [name, metric] of Object.entries(whole.metrics)) {
        expect(found.metrics[name]).toBeCloseTo(metric, 10);
      }
    }),
    { numRuns: 1000 },
  );
});

test('three rows of an episode do not pull three times: the losses with means over episodes', () => {
  const episodes = ['long', 'long', 'long', 'short'];
  const one = rows([[-1], [-1], [-1], [-1]]);
  const inputs = { logprobs: one, oldLogprobs: one, mask: bits([[1], [1], [1], [1]]), episodes };
  for (const loss of ['grpo', 'sapo']) {
    const { dLogprobs } = policyLoss({ ...inputs, advantages: [[1], [1], [1], [1]] }, { loss });
    // ½ for each episode; a third of it for each token of the long episode.
    const slopes = dLogprobs.map(([slope]) => -slope!);
    for (const slope of slopes.slice(0, 3)) expect(slope).toBeCloseTo(1 / 6, 6);
    expect(slopes[3]).toBeCloseTo(1 / 2, 6);
  }
});

test('dr_grpo divides by the episodes that were planned, whatever the batch holds', () => {
  const options = { loss: 'dr_grpo', clip: [0.2, 0.28], maxLength: 8 };
  const usual = policyLoss(golden, options).value;
  expect(policyLoss(golden, { ...options, stepEpisodes: 16 }).value).toBeCloseTo((usual * 2) / 16, 9);
});

test('bounds of the correction for the sampler, from below too', () => {
  const logprobs = rows([[-1, -1, -1]]);
  const sampledLogprobs = rows([[-1 - Math.log(4), -1, -1 + Math.log(4)]]);
  const inputs = { logprobs, oldLogprobs: logprobs, sampledLogprobs, mask: bits([[1, 1, 1]]) };
  const weights = (mismatchCorrection: 'token_truncate' | 'token_mask') => {
    const bounds = { mismatchCorrection, mismatchCap: 2, mismatchFloor: 0.5 };
    const { dLogprobs } = policyLoss({ ...inputs, advantages: [[-1, -1, -1]] }, { loss: 'dapo', ...bounds });
    return [...dLogprobs[0]!].map((slope) => Number((3 * slope).toFixed(5)));
  };
  expect(weights('token_truncate')).toEqual([2, 1, 0.5]);
  expect(weights('token_mask')).toEqual([0, 1, 0]);
});
