/** fileAlgorithm: how every trainer of this package learns from a file, in an order that a resumed run repeats. */
import { createRng, ToolEnvError } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import type { Metrics, Run } from '@toolenv/core/plugins';
import type { AlgorithmContext, DataAlgorithm, RunOptions } from '@toolenv/training';
import type { DataOptions } from '../sft-options.ts';
import { type EncodingPolicy, type Reading, requireEncode } from './encode-file.ts';

export interface FileAlgorithm<Item> {
  load(
    file: string,
    policy: EncodingPolicy,
    limits: { maxLength: number } & Reading,
  ): Promise<readonly Item[]>;
  rowsOf(items: readonly Item[]): TokenRow[];
  /** Learns from a batch. */
  learn(batch: Item[]): Promise<Metrics>;
  /** Scores the held-out items. */
  evaluate(held: readonly Item[]): Promise<Metrics>;
}

/** @throws ToolEnvError `usage.bad_option`, `usage.cannot_encode`, what `load` throws, and `usage.other_data` at a step. */
export async function fileAlgorithm<Item>(
  { options, run }: Pick<AlgorithmContext<DataOptions>, 'options' | 'run'>,
  { load, rowsOf, learn, evaluate }: FileAlgorithm<Item>,
): Promise<DataAlgorithm> {
  refuseIdleEvaluation(options, run);
  const policy = requireEncode(run.policy);
  const { data, evalData, maxLength = policy.spec.contextLength } = options;
  const limits = { maxLength, signal: run.signal, onData: run.onData };
  const items = await load(data, policy, limits);
  const held = evalData === undefined ? undefined : await load(evalData, policy, limits);
  const tokensOf = (some: readonly Item[]) =>
    rowsOf(some).reduce((sum, { tokens }) => sum + tokens.length, 0);
  const lengths = items.map((item) => tokensOf([item]));
  const batches = new Batches(lengths, { ...options, seed: run.seed });
  const now = checksum(rowsOf(items));
  const memory = { data: now, num_tokens: 0 };
  return {
    memory,
    steps: options.steps || batches.steps(options.epochs),
    async learn({ step }) {
      // The loop replaces `memory.data` by that of the checkpoint.
      if (memory.data !== now) {
        const message = `${data} is not what the run began with, or is encoded in another way: restore the file, or begin a new run.`;
        throw new ToolEnvError('usage.other_data', message);
      }
      const { indices, epoch } = batches.at(step);
      const batch = indices.map((index) => items[index]!);
      const metrics = await learn(batch);
      memory.num_tokens += tokensOf(batch);
      return { ...metrics, num_tokens: memory.num_tokens, epoch };
    },
    ...(held && { evaluate: () => evaluate(held) }),
  };
}

/** Refuses evaluations that would have nothing to score. */
function refuseIdleEvaluation(
  { evaluateEvery, evaluateFirst, evalData }: DataOptions & RunOptions,
  { env, evaluateOn = {} }: Run,
): void {
  const isIdle = evaluateEvery === 0 && !evaluateFirst;
  const hasEnv = env !== undefined || Object.keys(evaluateOn).length > 0;
  if (isIdle || hasEnv || evalData !== undefined) return;
  const message =
    'option "evaluateEvery": there is nothing to evaluate on: give evalData, or an environment.';
  throw new ToolEnvError('usage.bad_option', message);
}

/** 32 bits of all tokens and masks (FNV-1a), which tell whether the data of a resumed run are those that it began with. */
function checksum(rows: readonly TokenRow[]): number {
  let hash = 0x811c9dc5;
  const add = (value: number) => {
    hash = Math.imul(hash ^ value, 0x01000193);
  };
  for (const { tokens, mask } of rows) {
    add(tokens.length);
    for (const token of tokens) add(token);
    for (const bit of mask) add(bit);
  }
  return hash >>> 0;
}

interface BatchPlan {
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
