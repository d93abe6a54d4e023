/** Draws the next token from a distribution. */
import type { Rng } from '@toolenv/core';
import type { TokenLimit } from '../grammar/call-constraints.ts';
import { type Truncation, truncateDistribution, truncates } from './truncate-distribution.ts';

export interface Drawing extends Truncation {
  /** 0 means greedy decoding. */
  temperature: number;
  /** Excludes tokens before the truncation, which then is about those that are left. */
  limit?: TokenLimit | undefined;
}

/** A token and its log-probability in the distribution before any token was excluded. */
export interface DrawnToken {
  token: number;
  logprob: number;
}

export function drawToken(probabilities: Float32Array, drawing: Drawing, rng: Rng): DrawnToken {
  const allowed = drawing.limit?.allowed;
  const among = allowed ? onlyAllowed(probabilities, allowed) : probabilities;
  const token = drawing.temperature === 0 ? mostProbable(among) : sampled(among, drawing, rng);
  const probability = probabilities[token]!;
  // The only allowed token may have a probability below the least number.
  return { token, logprob: Math.log(allowed ? Math.max(probability, minProbability) : probability) };
}

/** The least positive float32. */
const minProbability = 2 ** -149;

/** The memory of the distributions that are left. Draws reuse it, because a vocabulary is large. */
let memory = new Float32Array(0);

/** The distribution of the allowed tokens, until the next call. If the probability of all of them is 0, they are equally likely. */
function onlyAllowed(probabilities: Float32Array, allowed: Uint32Array): Float32Array {
  const size = probabilities.length;
  if (memory.length < size) memory = new Float32Array(size);
  const left = memory.subarray(0, size);
  left.set(probabilities);
  for (let from = 0; from < size; from += 32) {
    let excluded = ~allowed[from >>> 5]!;
    if (excluded === -1) left.fill(0, from, from + 32);
    else
      for (; excluded !== 0; excluded &= excluded - 1) left[from + 31 - Math.clz32(excluded & -excluded)] = 0;
  }
  let sum = 0;
  for (let i = 0; i < size; i++) sum += left[i]!;
  if (sum > 0) for (let i = 0; i < size; i++) left[i]! /= sum;
  else for (let i = 0; i < size; i++) left[i] = (allowed[i >>> 5]! >>> (i & 31)) & 1;
  return left;
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
