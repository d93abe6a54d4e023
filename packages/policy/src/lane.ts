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

/** Building weights in, which lays matrices out for products once, takes as long as some 90 steps are faster for it. */
const stepsBeforeBuilding = 64;

/** Computes in this thread. */
export class LocalLane implements Lane {
  readonly #runtime: Runtime;
  readonly #model: Model;
  readonly #cache: KvCache;
  readonly #buildsIn: boolean;
  /** For any number of new tokens of each slot, and for one of each: with the weights as inputs, and built in. */
  #programs: { many?: Promise<Executable>; one?: Promise<Executable>; built?: Promise<Executable> } = {};
  /** Steps of one token since these weights came. */
  #steps: { weights: Tensors; count: number } | undefined;
  readonly #drawings: Map<number, { drawing: Drawing; rng: Rng }> = new Map();

  /** @param options.buildsIn Whether to build weights that stay into a program: faster, for a copy of them. */
  constructor(runtime: Runtime, model: Model, { buildsIn = false }: { buildsIn?: boolean } = {}) {
    this.#runtime = runtime;
    this.#model = model;
    this.#buildsIn = buildsIn;
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
    const program = await this.#program(time);
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

  async #program(time: number): Promise<Executable> {
    const { weights, constants, config } = this.#model;
    const compile = (length: 1 | 'S', builtIn?: Tensors) =>
      this.#runtime.compile((ops) => samplingProgram(ops, config, length), undefined, builtIn);
    if (time > 1) {
      this.#programs.many ??= compile('S');
      return this.#programs.many;
    }
    if (this.#steps?.weights !== weights) {
      this.#steps = { weights, count: 0 };
      await this.#close('built');
    }
    this.#steps.count += 1;
    if (this.#buildsIn && this.#steps.count > stepsBeforeBuilding) {
      this.#programs.built ??= compile(1, { ...weights, ...constants });
      return this.#programs.built;
    }
    this.#programs.one ??= compile(1);
    return this.#programs.one;
  }

  async #close(name: 'many' | 'one' | 'built'): Promise<void> {
    const program = this.#programs[name];
    delete this.#programs[name];
    await (await program)?.close();
  }

  clear(): void {
    this.#cache.clear();
    this.#drawings.clear();
  }

  async close(): Promise<void> {
    for (const name of ['many', 'one', 'built'] as const) await this.#close(name);
    this.#steps = undefined;
    this.clear();
  }
}
