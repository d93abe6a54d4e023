/** Runs the model for many conversations at a time, caches their keys and values, and draws the next token of each. */
import { createRng, type Rng, ToolEnvError } from '@toolenv/core';
import { architectureOf } from '../model/architecture.ts';
import { samplingProgram } from '../model/cached-attention.ts';
import { causalMask } from '../model/causal-mask.ts';
import { type Model, parameterCount } from '../model/model.ts';
import { Programs } from '../runtime/programs.ts';
import {
  type CompileOptions,
  type Executable,
  type Runtime,
  type Tensors,
  tensor,
} from '../runtime/runtime.ts';
import { BlockDrawing, blockCount } from './block-drawing.ts';
import { pastWindowMask } from './cached-past.ts';
import { type Drawing, type DrawnToken, drawToken } from './draw-token.ts';
import { HostKvCache } from './host-kv-cache.ts';
import type { KvCache } from './kv-cache.ts';
import { ResidentKvCache } from './resident-kv-cache.ts';

/** The tokens of a slot that follow its cached ones. */
interface Row {
  slot: number;
  tokens: Int32Array;
}

/** A slot's next token. */
interface Drawn extends DrawnToken {
  slot: number;
}

export interface DecoderOptions {
  /**
   * The precision of the weights in products that compute one token of each slot. `int8` gives other distributions than the learner
   * has, and takes another copy of the weights, of a quarter of their size. Default `float32`.
   */
  precision?: 'float32' | 'int8';
}

/**
 * Compiling the weights into the program lays matrices out for products once, and each step becomes faster. About 90 of these
 * steps make up for the compilation.
 */
const stepsBeforeBuilding = 64;

/** In bytes. A larger copy of the weights is freed at the end of a rollout, before the learner needs the memory. */
const mostKept = 128 * 2 ** 20;

export class CachedDecoder {
  readonly #runtime: Runtime;
  readonly #model: Model;
  readonly #cache: KvCache;
  /** Set if distributions stay on the device. */
  readonly #blocks: BlockDrawing | undefined;
  readonly #buildsIn: boolean;
  readonly #keepsBuilt: boolean;
  readonly #precision: 'float32' | 'int8';
  /**
   * `many` takes any number of new tokens of each slot. `one` and `built` take one token of each: `one` has the weights as
   * inputs, `built` has them compiled in.
   */
  readonly #programs: Programs<'many' | 'one' | 'built'> = new Programs();
  /** The number of one-token steps since the weights changed or the decoder was cleared. */
  #steps: { weights: Tensors; count: number } | undefined;
  readonly #drawings: Map<number, { drawing: Drawing; rng: Rng }> = new Map();

  /** @throws ToolEnvError `usage.device` if the runtime has no products in the given precision. */
  constructor(runtime: Runtime, model: Model, { precision = 'float32' }: DecoderOptions = {}) {
    if (precision === 'int8' && !runtime.hasInt8) {
      const message = `${runtime.name} does not sample in int8: use device cpu of ONNX Runtime, or rolloutPrecision float32.`;
      throw new ToolEnvError('usage.device', message);
    }
    this.#precision = precision;
    this.#runtime = runtime;
    this.#model = model;
    const bytes = 4 * parameterCount(model.config);
    this.#buildsIn = bytes <= (runtime.mostBuiltIn ?? 0);
    this.#keepsBuilt = bytes <= mostKept;
    // On the device if the device is other hardware, because copies to it are slow; else in this process.
    const Cache = runtime.memory?.isRemote ? ResidentKvCache : HostKvCache;
    this.#cache = new Cache(runtime, model.config);
    const { vocab_size: vocabulary } = model.config;
    if (this.#cache.isResident && blockCount(vocabulary) > 1)
      this.#blocks = new BlockDrawing(runtime, vocabulary);
  }

  /** Sets how the next tokens of a slot are drawn. */
  begin(slot: number, drawing: Drawing & { seed: number }): void {
    this.#drawings.set(slot, { drawing, rng: createRng(drawing.seed, 'sample') });
  }

  /** Drops the cached positions of a slot from `length` on. */
  truncate(slot: number, length: number): void {
    this.#cache.truncate(slot, length);
  }

  /** Replaces the cache of slot `to` by the first `length` positions of slot `from`. */
  fork(from: number, to: number, length: number): void {
    this.#cache.fork(from, to, length);
  }

  /** Runs the model once: computes and caches the given tokens, and draws the next token of each row. */
  async advance(given: readonly Row[]): Promise<Drawn[]> {
    const time = Math.max(...given.map(({ tokens }) => tokens.length));
    const { weights } = this.#model;
    const program = await this.#program(time, weights);
    const bySlot = new Map(given.map((row) => [row.slot, row]));
    const slots = [...bySlot.keys()];
    // A run with one token per slot has all active slots, so the cache may choose their order.
    const order = time === 1 ? this.#cache.inOrder(slots) : slots;
    const rows = order.map((slot) => bySlot.get(slot)!);
    const past = await this.#cache.view(order);
    const outputs = await program.run({
      ...weights,
      ...this.#model.constants,
      embeddings: weights['model.embed_tokens.weight']!,
      ...past,
      ...this.#inputs(rows, time),
      ...this.#windowMasks(order, time, past.pastMask!.dims.at(-1)!),
    });
    const added = rows.map((row) => row.tokens.length);
    await this.#cache.append(order, added, outputs);
    const drawn = await this.#draw(rows, outputs);
    return drawn.map((token, row) => ({ slot: order[row]!, ...token }));
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

  /** The masks of layers with a window. */
  #windowMasks(order: readonly number[], time: number, past: number): Tensors {
    const window = architectureOf(this.#model.config).window;
    if (window === undefined) return {};
    const lengths = order.map((slot) => this.#cache.length(slot));
    return {
      'window.pastMask': pastWindowMask(lengths, past, { time, window }),
      'window.mask': tensor(causalMask(time, window), [time, time]),
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
    const copied = this.#blocks ? 'sums' : 'probabilities';
    const compile = (
      length: 1 | 'S',
      builtIn: Pick<CompileOptions, 'constants' | 'constantPrecision'> = {},
    ) =>
      this.#runtime.compile((ops) => samplingProgram(ops, config, length, this.#blocks?.count), {
        ...builtIn,
        stays: (name) => this.#cache.isResident && name !== copied,
      });
    if (time > 1) return this.#programs.get('many', () => compile('S'));
    if (this.#steps?.weights !== weights) {
      this.#steps = { weights, count: 0 };
      await this.#programs.close('built');
    }
    this.#steps.count += 1;
    const isInt8 = this.#precision === 'int8';
    if (isInt8 || (this.#buildsIn && this.#steps.count > stepsBeforeBuilding)) {
      const builtIn = {
        constants: { ...weights, ...constants },
        ...(isInt8 && { constantPrecision: 'int8' as const }),
      };
      return this.#programs.get('built', () => compile(1, builtIn));
    }
    return this.#programs.get('one', () => compile(1));
  }

  /** Drops all slots and frees their memory. Compiled programs stay. */
  clear(): void {
    this.#cache.clear();
    this.#drawings.clear();
    // The programs `one` and `built` differ in the last bits. Restart the count so that later samples do not depend
    // on earlier ones.
    if (this.#steps) this.#steps.count = 0;
    if (!this.#keepsBuilt) void this.#programs.close('built');
  }

  async close(): Promise<void> {
    this.#steps = undefined;
    this.clear();
    await this.#programs.closeAll();
    await this.#cache.close();
    await this.#blocks?.close();
  }
}
