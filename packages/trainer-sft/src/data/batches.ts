/** Batches: the examples of each step. */
import { createRng } from '@toolenv/core';

export interface BatchPlan {
  /** Examples in a step. */
  batchSize: number;
  /** Tokens in a step at most, in place of `batchSize`. A longer example is a step of its own. */
  batchTokens?: number;
  shuffle: boolean;
  seed: number;
}

/** The examples of each step: pass after pass over the data, each in an order of its own that depends on the seed only. */
export class Batches {
  readonly #lengths: readonly number[];
  readonly #plan: BatchPlan;
  readonly #epochs: number[][][] = [];

  /** @param lengths Tokens of each example. */
  constructor(lengths: readonly number[], plan: BatchPlan) {
    this.#lengths = lengths;
    this.#plan = plan;
  }

  /** Number of steps in so many passes, of which the last may be a part of one. */
  steps(epochs: number): number {
    const whole = Math.floor(epochs);
    let steps = 0;
    for (let epoch = 0; epoch < whole; epoch++) steps += this.#epoch(epoch).length;
    if (whole === epochs) return steps;
    return steps + Math.ceil((epochs - whole) * this.#epoch(whole).length);
  }

  /** The indices of a step's examples, and the passes made after the step. */
  at(step: number): { indices: number[]; epoch: number } {
    let left = step;
    for (let epoch = 0; ; epoch++) {
      const batches = this.#epoch(epoch);
      if (left < batches.length)
        return { indices: batches[left]!, epoch: epoch + (left + 1) / batches.length };
      left -= batches.length;
    }
  }

  #epoch(epoch: number): number[][] {
    this.#epochs[epoch] ??= this.#batchesOf(epoch);
    return this.#epochs[epoch];
  }

  #batchesOf(epoch: number): number[][] {
    const { batchSize, batchTokens, shuffle, seed } = this.#plan;
    const all = [...this.#lengths.keys()];
    const order = shuffle ? createRng(seed, 'examples', epoch).shuffle(all) : all;
    const batches: number[][] = [];
    let room = 0;
    for (const index of order) {
      const cost = batchTokens === undefined ? 1 : this.#lengths[index]!;
      const isFull = batches.length === 0 || cost > room;
      if (isFull) {
        batches.push([]);
        room = batchTokens ?? batchSize;
      }
      batches.at(-1)!.push(index);
      room -= cost;
    }
    return batches;
  }
}
