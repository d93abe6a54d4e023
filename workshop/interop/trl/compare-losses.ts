/** Compares the losses with TRL's for random settings and random batches: values, gradients and metrics. */
import { join } from 'node:path';
import { createRng, type Rng } from '@toolenv/core';
import { losses } from '../../../packages/training/src/update/losses/losses.ts';
import {
  type PolicyLossInputs,
  type PolicyLossOptions,
  policyLoss,
} from '../../../packages/training/src/update/losses/policy-loss.ts';
import { bits, rows } from '../../../packages/training/test/update/losses/loss-cases.ts';
import { check } from '../check.ts';
import { jsonOf } from '../programs.ts';

/** Of each loss, for every level and every correction of the sampler that TRL allows with it. */
const settingsOfEach = 6;
/** Absolute, or relative for numbers above 1: gradients are float32. */
const tolerance = 1e-6;

type Arrays = Record<Exclude<keyof PolicyLossInputs, 'mask' | 'episodes'>, number[][]>;

interface Case {
  inputs: Arrays;
  mask: number[][];
  options: PolicyLossOptions;
}

interface TrlLoss {
  value: number;
  dLogprobs: number[][];
  dEntropy?: number[][];
  metrics: Record<string, number>;
}

/** A line for each setting that differs, and one for the number that agree. */
export async function compareLosses(python: string): Promise<void> {
  const cases = makeCases();
  const theirs = await jsonOf<TrlLoss[]>(python, [join(import.meta.dirname, 'losses.py')], cases);
  const found = cases.map((one, index) => ({ ...one, differences: differences(one, theirs[index]!) }));
  for (const { options, differences } of found) {
    const [worst] = Object.entries(differences).sort(([, a], [, b]) => b - a);
    if (!(worst![1] <= tolerance))
      check(
        false,
        `TRL's ${options.loss}: ${JSON.stringify(options)}`,
        `${worst![0]} differs by ${worst![1]}`,
      );
  }
  const agree = found.filter(({ differences }) => Object.values(differences).every((by) => by <= tolerance));
  const largest = Math.max(...agree.flatMap(({ differences }) => Object.values(differences)));
  check(
    agree.length === cases.length,
    `TRL's losses: ${agree.length} of ${cases.length} random settings agree to ${tolerance}; the largest difference is ${largest.toExponential(1)}`,
    `${cases.length - agree.length} differ`,
  );
}

/** Every loss at both levels without a correction and with each of the four, the other options at random. */
function makeCases(): Case[] {
  const rng = createRng(1, 'losses');
  const modes = ['token_truncate', 'token_mask', 'sequence_truncate', 'sequence_mask'] as const;
  return Object.keys(losses).flatMap((loss) =>
    (['token', 'sequence'] as const).flatMap((ratioLevel) =>
      [undefined, ...modes].flatMap((mismatchCorrection) => {
        // TRL refuses them.
        const isRefused = ratioLevel === 'sequence' || mismatchCorrection?.startsWith('sequence');
        if (loss === 'vespo' && isRefused) return [];
        return Array.from({ length: settingsOfEach }, () =>
          makeCase(rng, { loss, ratioLevel, ...(mismatchCorrection && { mismatchCorrection }) }),
        );
      }),
    ),
  );
}

function makeCase(rng: Rng, fixed: PolicyLossOptions): Case {
  const [batch, length] = [1 + rng.int(6), 1 + rng.int(8)];
  const each = (value: (b: number, t: number) => number) =>
    Array.from({ length: batch }, (_, b) => Array.from({ length }, (_, t) => Math.fround(value(b, t))));
  const logprobs = each(() => -between(rng, 0.01, 4));
  const drift = rng.pick([0.05, 0.3, 1]);
  const near = () => each((b, t) => logprobs[b]![t]! + between(rng, -drift, drift));
  const advantages = Array.from({ length: batch }, () => between(rng, -2, 2));
  return {
    inputs: {
      logprobs,
      oldLogprobs: near(),
      sampledLogprobs: near(),
      referenceLogprobs: near(),
      entropy: each(() => between(rng, 0.01, 3)),
      advantages: each((b) => advantages[b]!),
    },
    // Each episode has a token of the policy.
    mask: Array.from({ length: batch }, () => {
      const kept = rng.int(length);
      return Array.from({ length }, (_, t) => Number(t === kept || rng.int(3) > 0));
    }),
    options: { ...fixed, ...makeOptions(rng, drift) },
  };
}

function makeOptions(rng: Rng, drift: number): Omit<PolicyLossOptions, 'loss'> {
  const maybe = <T>(value: T, otherwise: T): T => rng.pick([value, otherwise]);
  const delta = maybe<number | undefined>(between(rng, 1, 2), undefined);
  const offPolicyThreshold = maybe<number | undefined>(between(rng, 0, drift / 2), undefined);
  return {
    clip: [between(rng, 0.01, 0.4), between(rng, 0.01, 0.4)],
    ...(delta !== undefined && { delta }),
    ratioCap: between(rng, 1, 3),
    beta: maybe(between(rng, 0.01, 1), 0),
    biasCorrectedKl: rng.int(2) === 0,
    maxLength: 8 + rng.int(8),
    sapoTemperatures: [between(rng, 0.5, 3), between(rng, 0.5, 3)],
    vespoPositive: [between(rng, 0, 3), between(rng, 0, 4)],
    vespoNegative: [between(rng, 0, 3), between(rng, 0, 4)],
    topEntropyQuantile: maybe(between(rng, 0.1, 1), 1),
    entropyCoefficient: maybe(between(rng, 0.001, 0.2), 0),
    mismatchFloor: maybe(between(rng, 0.1, 0.9), 0),
    mismatchCap: between(rng, 1, 3),
    ...(offPolicyThreshold !== undefined && { offPolicyThreshold }),
  };
}

function between(rng: Rng, least: number, most: number): number {
  return least + rng.float() * (most - least);
}

/** By name of a number, how far ours is from theirs, in units of the larger of 1 and theirs. */
function differences({ inputs, mask, options }: Case, theirs: TrlLoss): Record<string, number> {
  const arrays = Object.fromEntries(Object.entries(inputs).map(([name, values]) => [name, rows(values)]));
  const ours = policyLoss({ ...arrays, mask: bits(mask) } as unknown as PolicyLossInputs, options);
  const found: Record<string, number> = { value: difference(ours.value, theirs.value) };
  for (const name of ['dLogprobs', 'dEntropy'] as const) {
    const slopes = (theirs[name] ?? []).flatMap((row, b) =>
      row.map((slope, t) => difference(ours[name]![b]![t]!, slope)),
    );
    if (slopes.length > 0) found[name] = Math.max(...slopes);
  }
  for (const [name, value] of Object.entries(theirs.metrics)) {
    // TRL counts whole rows at the level of the sequence, and clipped ratios after `delta`.
    const isOtherCount = options.ratioLevel === 'sequence' || options.delta !== undefined;
    if (!(name.includes('clip') && isOtherCount)) found[name] = difference(ours.metrics[name]!, value);
  }
  return found;
}

/** Infinity if one of them is not a number. */
function difference(ours: number, theirs: number): number {
  const by = Math.abs(ours - theirs) / Math.max(1, Math.abs(theirs));
  return Number.isNaN(by) ? Number.POSITIVE_INFINITY : by;
}
