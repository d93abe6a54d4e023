/** Draws the next token from a distribution. */
import type { Rng } from '@toolenv/core';
import { type Truncation, truncateDistribution, truncates } from './truncate-distribution.ts';

export interface Drawing extends Truncation {
  /** 0 means greedy decoding. */
  temperature: number;
}

/** A token and its log-probability in the distribution before truncation. */
export interface DrawnToken {
  token: number;
  logprob: number;
}

export function drawToken(probabilities: Float32Array, drawing: Drawing, rng: Rng): DrawnToken {
  const token =
    drawing.temperature === 0 ? mostProbable(probabilities) : sampled(probabilities, drawing, rng);
  return { token, logprob: Math.log(probabilities[token]!) };
}

function sampled(distribution: Float32Array, truncation: Truncation, rng: Rng): number {
  if (!truncates(truncation, distribution.length)) return passing(distribution, rng.float()).index;
  const { tokens, probabilities } = truncateDistribution(distribution, truncation);
  let mass = 0;
  for (let i = 0; i < probabilities.length; i++) mass += probabilities[i]!;
  // No token is left of a distribution that is not of numbers.
  return tokens[passing(probabilities, rng.float() * mass).index] ?? 0;
}

function mostProbable(probabilities: Float32Array): number {
  let best = 0;
  for (let i = 1; i < probabilities.length; i++) if (probabilities[i]! > probabilities[best]!) best = i;
  return best;
}

/**
 * The first index at which the running sum exceeds `threshold`, and the sum before that index. If rounding keeps the
 * sum below the threshold, it is the most probable index, with a sum of 0 before it.
 */
export function passing(probabilities: Float32Array, threshold: number): { index: number; before: number } {
  let before = 0;
  for (let index = 0; index < probabilities.length; index++) {
    const sum = before + probabilities[index]!;
    if (sum > threshold) return { index, before };
    before = sum;
  }
  return { index: mostProbable(probabilities), before: 0 };
}
