/** Computes tokens of many conversations at a time, with their keys and values cached, and draws the next of each. */
import { createRng, type Rng } from '@toolenv/core';
import { samplingProgram } from '../model/cached-attention.ts';
import { causalMask } from '../model/causal-mask.ts';
import { type Model, parameterCount } from '../model/model.ts';
import { Programs } from '../runtime/programs.ts';
import { type Executable, type Runtime, type Tensors, tensor } from '../runtime/runtime.ts';
import { BlockDrawing, blockCount } from './block-drawing.ts';
import { type Drawing, type DrawnToken, drawToken } from './draw-token.ts';
import { createKvCache, type KvCache } from './kv-cache.ts';

/** What a slot lacks: the next tokens after those cached. */
export interface Row {
  slot: number;
  tokens: Int32Array;
}

/** A slot's next token. */
export interface Drawn extends DrawnToken {
  slot: number;
}

/** Building weights in, which lays matrices out for products once, takes as long as some 90 steps are faster for it. */
const stepsBeforeBuilding = 64;

export class CachedDecoder {
  readonly #runtime: Runtime;
  readonly #model: Model;
  readonly #cache: KvCache;
  /** Where distributions stay on the device. */
  readonly #blocks: BlockDrawing | undefined;
  readonly #buildsIn: boolean;
  /** For any number of new tokens of each slot, and for one of each: with the weights as inputs, and built in. */
  readonly #programs: Programs<'many' | 'one' | 'built'> = new Programs();
  /** Steps of one token since these weights came or all was cleared. */
  #steps: { weights: Tensors; count: number } | undefined;
  readonly #drawings: Map<number, { drawing: Drawing; rng: Rng }> = new Map();

  constructor(runtime: Runtime, model: Model) {
    this.#runtime = runtime;
    this.#model = model;
    this.#buildsIn = 4 * parameterCount(model.config) <= (runtime.mostBuiltIn ?? 0);
    this.#cache = createKvCache(runtime, model.config);
    const { vocab_size: vocabulary } = model.config;
    if (this.#cache.isResident && blockCount(vocabulary) > 1)
      this.#blocks = new BlockDrawing(runtime, vocabulary);
  }

  /** From now on, this is how a slot's tokens are drawn. */
  begin(slot: number, drawing: Drawing & { seed: number }): void {
    this.#drawings.set(slot, { drawing, rng: createRng(drawing.seed, 'sample') });
  }

  /** Forgets what a slot has cached at and after `length`. */
  truncate(slot: number, length: number): void {
    this.#cache.truncate(slot, length);
  }

  /** Gives a slot the first `length` cached positions of another. */
  fork(from: number, to: number, length: number): void {
    this.#cache.fork(from, to, length);
  }

  /** One run: caches what each of some slots lacks, and draws its next token. */
  async advance(lacking: readonly Row[]): Promise<Drawn[]> {
    const time = Math.max(...lacking.map(({ tokens }) => tokens.length));
    const { weights } = this.#model;
    const program = await this.#program(time, weights);
    const bySlot = new Map(lacking.map((row) => [row.slot, row]));
    // All active slots take part where each has one token.
    const order = time === 1 ? this.#cache.inOrder([...bySlot.keys()]) : [...bySlot.keys()];
    const rows = order.map((slot) => bySlot.get(slot)!);
    const outputs = await program.run({
      ...weights,
      ...this.#model.constants,
      ...(await this.#cache.view(order)),
      ...this.#inputs(rows, time),
    });
    const added = rows.map((row) => row.tokens.length);
    await this.#cache.append(order, added, outputs);
    const drawn = await this.#draw(rows, outputs);
    return drawn.map((one, row) => ({ slot: order[row]!, ...one }));
  }

  #inputs(rows: readonly Row[], time: number): Tensors {
    const tokens = new Int32Array(rows.length * time);
    const positions = new Int32Array(rows.length * time);
    for (const [b, row] of rows.entries()) {
      tokens.set(row.tokens, b * time);
      const past = this.#cache.length(row.slot);
      for (let s = 0; s < row.tokens.length; s++) positions[b * time + s] = past + s;
    }
    const temperatures = rows.map(({ slot }) => this.#drawings.get(slot)!.drawing.temperature || 1);
    const inverse = Float32Array.from(temperatures, (temperature) => 1 / temperature);
    const last = Int32Array.from(rows, (row, b) => b * time + row.tokens.length - 1);
    return {
      tokens: tensor(tokens, [rows.length, time]),
      positions: tensor(positions, [rows.length, time]),
      mask: tensor(causalMask(time), [time, time]),
      inverseTemperature: tensor(inverse, [rows.length, 1]),
      last: tensor(last, [rows.length]),
    };
  }

  async #draw(rows: readonly Row[], { probabilities, sums }: Tensors): Promise<DrawnToken[]> {
    const drawings = rows.map(({ slot }) => this.#drawings.get(slot)!);
    if (this.#blocks) {
      const drawn = await this.#blocks.draw(probabilities!, sums!, drawings);
      probabilities!.dispose?.();
      return drawn;
    }
    const { vocab_size: vocabulary } = this.#model.config;
    const values = probabilities!.data as Float32Array;
    return drawings.map(({ drawing, rng }, row) =>
      drawToken(values.subarray(row * vocabulary, (row + 1) * vocabulary), drawing, rng),
    );
  }

  async #program(time: number, weights: Tensors): Promise<Executable> {
    const { constants, config } = this.#model;
    const comes = this.#blocks ? 'sums' : 'probabilities';
    const compile = (length: 1 | 'S', builtIn?: Tensors) =>
      this.#runtime.compile((ops) => samplingProgram(ops, config, length, this.#blocks?.count), {
        constants: builtIn,
        stays: (name) => this.#cache.isResident && name !== comes,
      });
    if (time > 1) return this.#programs.get('many', () => compile('S'));
    if (this.#steps?.weights !== weights) {
      this.#steps = { weights, count: 0 };
      await this.#programs.close('built');
    }
    this.#steps.count += 1;
    if (this.#buildsIn && this.#steps.count > stepsBeforeBuilding) {
      return this.#programs.get('built', () => compile(1, { ...weights, ...constants }));
    }
    return this.#programs.get('one', () => compile(1));
  }

  /** Forgets all slots and gives their memory back. Programs stay. */
  clear(): void {
    this.#cache.clear();
    this.#drawings.clear();
    // The two programs differ in the last bits: what is sampled from here on must not depend on what was before.
    if (this.#steps) this.#steps.count = 0;
  }

  async close(): Promise<void> {
    this.#steps = undefined;
    this.clear();
    await this.#programs.closeAll();
    await this.#cache.close();
    await this.#blocks?.close();
  }
}
