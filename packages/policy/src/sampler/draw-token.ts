/** Draws the next token from a distribution. */
import type { Rng } from '@toolenv/core';
import { type Truncation, truncateDistribution } from './truncate-distribution.ts';

export interface Drawing extends Truncation {
  /** 0 is greedy. */
  temperature: number;
}

/** One token of a distribution and its log-probability in it. */
export function drawToken(
  probabilities: Float32Array,
  drawing: Drawing,
  rng: Rng,
): { token: number; logprob: number } {
  const token =
    drawing.temperature === 0 ? mostProbable(probabilities) : sampled(probabilities, drawing, rng);
  return { token, logprob: Math.log(probabilities[token]!) };
}

function sampled(probabilities: Float32Array, truncation: Truncation, rng: Rng): number {
  const allowed = truncateDistribution(probabilities, truncation);
  const mass = allowed === probabilities ? 1 : allowed.reduce((sum, p) => sum + p, 0);
  return pick(allowed, rng.float() * mass);
}

function mostProbable(probabilities: Float32Array): number {
  let best = 0;
  for (let i = 1; i < probabilities.length; i++) if (probabilities[i]! > probabilities[best]!) best = i;
  return best;
}

/** The token at which the running sum passes `threshold`; rounding may leave the sum a little under the whole. */
function pick(probabilities: Float32Array, threshold: number): number {
  let sum = 0;
  for (let i = 0; i < probabilities.length; i++) {
    sum += probabilities[i]!;
    if (sum > threshold) return i;
  }
  return mostProbable(probabilities);
}
