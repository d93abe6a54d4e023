/** The preference losses: TRL's numbers, and gradients beside differences. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TokenRow } from '@toolenv/core/learner';
import { describe, expect, test, vi } from 'vitest';
import type { DpoLossOptions } from '../src/dpo-loss.ts';
import { pairLoss } from '../src/dpo-loss.ts';
import type { DpoOptions } from '../src/dpo-options.ts';
import { type Pair, pairsLoss, scorePairs } from '../src/learn-pairs.ts';

interface Golden {
  /** [2B][T]: the chosen rows, then the rejected rows. */
  mask: number[][];
  logprobs: number[][];
  referenceLogprobs: number[][];
  cases: {
    options: DpoLossOptions & { rpoAlpha: number };
    value: number;
    dLogprobs: number[][];
    metrics: Record<string, number>;
  }[];
}

const golden: Golden = JSON.parse(readFileSync(join(import.meta.dirname, 'golden/dpo.json'), 'utf8'));
const count = golden.mask.length / 2;
/** TRL has all chosen rows first; here the two sides of a pair stand together. */
const ours = <T>(rows: readonly T[]) =>
  Array.from({ length: count }, (_, pair) => [rows[pair]!, rows[pair + count]!]).flat();
const pairs: Pair[] = Array.from({ length: count }, (_, pair) => {
  const row = (index: number) => [
    { tokens: new Int32Array(golden.mask[index]!.length), mask: Uint8Array.from(golden.mask[index]!) },
  ];
  return { chosen: row(pair), rejected: row(pair + count) };
});
const rows = (values: number[][]) => ours(values.map((row) => Float32Array.from(row)));

describe.each(golden.cases)('$options', ({ options, value, dLogprobs, metrics }) => {
  const loss = pairsLoss(pairs, rows(golden.logprobs), rows(golden.referenceLogprobs), options);

  test('has the value, the gradient and the metrics of TRL', () => {
    expect(loss.value).toBeCloseTo(value, 5);
    for (const [b, row] of rows(dLogprobs).entries())
      for (const [t, slope] of row.entries()) expect(loss.dLogprobs[b]![t]).toBeCloseTo(slope, 6);
    for (const [name, mean] of Object.entries(metrics)) expect(loss.metrics[name]).toBeCloseTo(mean, 5);
  });
});

test('Ctrl-C ends the scoring of pairs', async () => {
  const controller = new AbortController();
  const forward = vi.fn(async ({ rows }: { rows: TokenRow[] }) => {
    controller.abort(new Error('enough'));
    return { logprobs: rows.map(({ tokens }) => new Float32Array(tokens.length)) };
  });
  const learner = { forward } as never;
  const many = Array(40).fill(pairs[0]!);
  const options = golden.cases[0]!.options as DpoOptions;
  await expect(scorePairs(learner, learner, many, options, controller.signal)).rejects.toThrow('enough');
  // 32 pairs, by the policy and by the reference.
  expect(forward).toHaveBeenCalledTimes(2);
});

test.each(['sigmoid', 'hinge', 'ipo', 'robust'] as const)(
  'the gradient of %s is its derivative',
  (lossType) => {
    const options = { lossType, beta: 0.3, labelSmoothing: 0.2 };
    for (const [chosen, rejected] of [
      [-4, -6],
      [-6, -4],
      [-30, -3],
    ]) {
      const loss = (dChosen = 0, dRejected = 0) =>
        pairLoss(
          { logprob: chosen! + dChosen, referenceLogprob: -5, tokens: 3 },
          { logprob: rejected! + dRejected, referenceLogprob: -4.5, tokens: 5 },
          options,
        );
      const h = 1e-5;
      expect(loss().dChosen).toBeCloseTo((loss(h).value - loss(-h).value) / (2 * h), 7);
      expect(loss().dRejected).toBeCloseTo((loss(0, h).value - loss(0, -h).value) / (2 * h), 7);
    }
  },
);

test('rows of an answer count as one answer, however many they are', () => {
  const split = pairs.map(({ chosen, rejected }) => ({
    chosen: chosen.flatMap(({ tokens, mask }) => [
      { tokens, mask: mask.map((bit, t) => (t < 4 ? bit : 0)) },
      { tokens, mask: mask.map((bit, t) => (t < 4 ? 0 : bit)) },
    ]),
    rejected,
  }));
  const doubled = (values: number[][]) =>
    rows(values).flatMap((row, index) => (index % 2 === 0 ? [row, row] : [row]));
  for (const { options } of golden.cases) {
    const whole = pairsLoss(pairs, rows(golden.logprobs), rows(golden.referenceLogprobs), options);
    const parts = pairsLoss(split, doubled(golden.logprobs), doubled(golden.referenceLogprobs), options);
    expect(parts.value).toBeCloseTo(whole.value, 12);
  }
});
