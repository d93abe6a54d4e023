/** A lane of the sampler: some of its conversations with their cache, which are computed and sampled together. */
import { createRng, type Rng } from '@toolenv/core';
import { samplingProgram } from './cached-attention.ts';
import { type Drawing, drawToken } from './draw-token.ts';
import { KvCache } from './kv-cache.ts';
import type { Model } from './model.ts';
import { causalMask } from './padded-batch.ts';
import { type Executable, type Runtime, type Tensors, tensor } from './runtime.ts';

/** What to compute: for slots[b], the next counts[b] tokens after those cached; `tokens` has those of all slots one after the other. */
export interface Work {
  slots: readonly number[];
  counts: readonly number[];
  tokens: Int32Array;
}

/** [slots] each slot's next token, and its log-probability. */
export interface Drawn {
  tokens: Int32Array;
  logprobs: Float32Array;
}

export interface Lane {
  /** From now on, this is how a slot's tokens are drawn. */
  begin(slot: number, drawing: Drawing & { seed: number }): void;
  /** Forgets what a slot has cached at and after `length`. */
  truncate(slot: number, length: number): void;
  /** Gives a slot the first `length` cached positions of another. */
  fork(from: number, to: number, length: number): void;
  /** One run. */
  advance(work: Work): Promise<Drawn>;
  /** Forgets all slots and gives the memory back. */
  clear(): void;
  close(): Promise<void>;
}

/** Computes in this thread. */
export class LocalLane implements Lane {
  readonly #runtime: Runtime;
  readonly #model: Model;
  readonly #cache: KvCache;
  readonly #builtIn: boolean;
  /** For one new token of each slot, perhaps with weights built in, and for any number of them. */
  #step: { weights: Tensors; program: Promise<Executable> } | undefined;
  #prefill: Promise<Executable> | undefined;
  readonly #drawings: Map<number, { drawing: Drawing; rng: Rng }> = new Map();

  /**
   * @param options.builtIn Whether to compile anew when the weights change, with the weights as constants: steps are faster by a
   * sixth, since matrices are laid out for products once.
   */
  constructor(runtime: Runtime, model: Model, { builtIn = false }: { builtIn?: boolean } = {}) {
    this.#runtime = runtime;
    this.#model = model;
    this.#builtIn = builtIn;
    this.#cache = new KvCache(model.config, { neverEmpty: runtime.refusesEmpty });
  }

  begin(slot: number, drawing: Drawing & { seed: number }): void {
    this.#drawings.set(slot, { drawing, rng: createRng(drawing.seed, 'sample') });
  }

  truncate(slot: number, length: number): void {
    this.#cache.truncate(slot, length);
  }

  fork(from: number, to: number, length: number): void {
    this.#cache.fork(from, to, length);
  }

  async advance(work: Work): Promise<Drawn> {
    const { slots, counts } = work;
    const time = Math.max(...counts);
    const program = await (time === 1 ? this.#stepProgram() : this.#prefillProgram());
    // All active slots take part where each has one token: brought to the front, the cache is read in place.
    if (time === 1) this.#cache.bringToFront(slots);
    const outputs = await program.run({
      ...this.#model.weights,
      ...this.#model.constants,
      ...this.#cache.view(slots),
      ...this.#inputs(work, time),
    });
    this.#cache.append(slots, counts, outputs);
    return this.#draw(slots, outputs.probabilities!.data as Float32Array);
  }

  #inputs({ slots, counts, tokens }: Work, time: number): Tensors {
    const padded = new Int32Array(slots.length * time);
    const positions = new Int32Array(slots.length * time);
    let read = 0;
    for (const [row, slot] of slots.entries()) {
      const past = this.#cache.length(slot);
      for (let s = 0; s < counts[row]!; s++) {
        padded[row * time + s] = tokens[read++]!;
        positions[row * time + s] = past + s;
      }
    }
    const temperatures = slots.map((slot) => this.#drawings.get(slot)!.drawing.temperature || 1);
    const inverse = Float32Array.from(temperatures, (temperature) => 1 / temperature);
    const last = Int32Array.from(counts, (count, row) => row * time + count - 1);
    return {
      tokens: tensor(padded, [slots.length, time]),
      positions: tensor(positions, [slots.length, time]),
      mask: tensor(causalMask(time), [time, time]),
      inverseTemperature: tensor(inverse, [slots.length, 1]),
      last: tensor(last, [slots.length]),
    };
  }

  #draw(slots: readonly number[], probabilities: Float32Array): Drawn {
    const vocabulary = this.#model.config.vocab_size;
    const drawn = { tokens: new Int32Array(slots.length), logprobs: new Float32Array(slots.length) };
    for (const [row, slot] of slots.entries()) {
      const { drawing, rng } = this.#drawings.get(slot)!;
      const ofRow = probabilities.subarray(row * vocabulary, (row + 1) * vocabulary);
      const { token, logprob } = drawToken(ofRow, drawing, rng);
      drawn.tokens[row] = token;
      drawn.logprobs[row] = logprob;
    }
    return drawn;
  }

  /** For one token of each slot: the program of almost all runs. */
  async #stepProgram(): Promise<Executable> {
    const { weights, constants, config } = this.#model;
    if (this.#builtIn && this.#step?.weights !== weights) await this.#closeStep();
    if (!this.#step) {
      const builtIn = this.#builtIn ? { ...weights, ...constants } : undefined;
      const program = this.#runtime.compile((ops) => samplingProgram(ops, config, 1), undefined, builtIn);
      this.#step = { weights, program };
    }
    return this.#step.program;
  }

  #prefillProgram(): Promise<Executable> {
    this.#prefill ??= this.#runtime.compile((ops) => samplingProgram(ops, this.#model.config, 'S'));
    return this.#prefill;
  }

  async #closeStep(): Promise<void> {
    const step = this.#step;
    this.#step = undefined;
    await (await step?.program)?.close();
  }

  clear(): void {
    this.#cache.clear();
    this.#drawings.clear();
  }

  async close(): Promise<void> {
    await this.#closeStep();
    await (await this.#prefill)?.close();
    this.#prefill = undefined;
    this.clear();
  }
}
