/** Runs the model for many conversations at a time, caches their keys and values, and draws the next token of each. */
import { createRng, type Rng, ToolEnvError } from '@toolenv/core';
import { samplingProgram } from '../model/cached-attention.ts';
import { longestRun, stateShapes } from '../model/cached-states.ts';
import { levelsOf } from '../model/delta-rule.ts';
import { architectureOf, isRecurrent } from '../model/known-architectures.ts';
import { type Model, parameterCount } from '../model/model.ts';
import type { ModelConfig } from '../model/model-config.ts';
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
import { LaidOutWeights } from './laid-out-weights.ts';
import { PooledKvCache } from './pooled-kv-cache.ts';
import { ResidentKvCache } from './resident-kv-cache.ts';
import { StateCache } from './state-cache.ts';

/** Some tokens of a slot that follow its cached ones. */
interface Row {
  slot: number;
  tokens: Int32Array;
  /** Slots that have the same cached positions and tokens, or fewer of the same cached positions. The run serves them too. */
  copies: readonly number[];
  /** Whether these are the last tokens, so that the next token is drawn. */
  draws: boolean;
}

/** A slot's next token. */
interface Drawn extends DrawnToken {
  slot: number;
}

export interface DecoderOptions {
  /**
   * The precision of weights in products. `int8` computes other distributions than the learner, faster and with a copy of the weights
   * of a quarter of their size. Default `float32`.
   */
  precision?: 'float32' | 'int8';
}

/** In bytes. Larger weights are not copied into the layout of products: a device's memory is not known, and they may fill most of it. */
const maxLaidOut = 2 * 2 ** 30;
/** In bytes. A larger copy of the weights is freed at the end of a rollout, before the learner needs the memory. */
const maxKept = 128 * 2 ** 20;

export class CachedDecoder {
  readonly #runtime: Runtime;
  readonly #model: Model;
  readonly #cache: KvCache;
  /** Set if some layers keep a state instead. */
  readonly #states: StateCache | undefined;
  /** Set if distributions stay on the device. */
  readonly #blocks: BlockDrawing | undefined;
  /** Whether the program has the weights compiled in, with matrices laid out for products. */
  readonly buildsIn: boolean;
  readonly #keepsBuilt: boolean;
  readonly #precision: 'float32' | 'int8';
  /** `built` has the weights compiled in. The others take them as inputs; `one` and `few`, for few rows, take one token of each slot. */
  readonly #programs: Programs<'many' | 'one' | 'few' | 'built'> = new Programs();
  #builtFrom: Tensors | undefined;
  /** Set if the program takes weights that are laid out for products. */
  readonly #laidOut: LaidOutWeights | undefined;
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
    this.buildsIn = precision === 'int8' || bytes <= (runtime.mostBuiltIn ?? 0);
    this.#keepsBuilt = bytes <= maxKept;
    if (runtime.laysOut && !this.buildsIn && bytes <= maxLaidOut)
      this.#laidOut = new LaidOutWeights(runtime, model.config);
    this.#cache = createCache(runtime, model.config);
    if (isRecurrent(model.config)) this.#states = new StateCache(runtime, model.config);
    const { vocab_size: vocabulary } = model.config;
    if (this.#cache.isResident && blockCount(vocabulary) > 1)
      this.#blocks = new BlockDrawing(runtime, vocabulary);
  }

  /** Sets how the next tokens of a slot are drawn. */
  begin(slot: number, drawing: Drawing & { seed: number }): void {
    this.#drawings.set(slot, { drawing, rng: createRng(drawing.seed, 'sample') });
  }

  /** Whether only all that a slot has cached can be copied. */
  get forksWhole(): boolean {
    return this.#states !== undefined;
  }

  /** Drops the cached positions of a slot from `length` on, or all if a state must go. @returns How many positions are left. */
  truncate(slot: number, length: number): number {
    const left = this.#states && length < this.#cache.length(slot) ? 0 : length;
    if (left === 0) this.#states?.drop(slot);
    this.#cache.truncate(slot, left);
    return left;
  }

  /** Copies positions of slot `from` up to `length` that slot `to` lacks. Its cached positions are the same already. */
  fork(from: number, to: number, length: number): void {
    this.#cache.fork(from, to, length);
    this.#states?.fork(from, to);
  }

  /** Runs the model once: computes and caches the given tokens, and draws the next tokens of rows that draw and of their copies. */
  async advance(given: readonly Row[]): Promise<Drawn[]> {
    const time = Math.max(...given.map(({ tokens }) => tokens.length));
    const { weights } = this.#model;
    const program = await this.#program(given, time);
    const bySlot = new Map(given.map((row) => [row.slot, row]));
    const slots = [...bySlot.keys()];
    // A run with one token per slot has all active slots, so the cache may choose their order.
    const order = time === 1 ? this.#cache.inOrder(slots) : slots;
    const rows = order.map((slot) => bySlot.get(slot)!);
    const drawing = drawingSlots(rows);
    const past = await this.#cache.view(order, time);
    const outputs = await program.run({
      ...weights,
      ...(await this.#laidOut?.of(weights)),
      ...this.#model.constants,
      embeddings: weights['model.embed_tokens.weight']!,
      ...past,
      ...(await this.#states?.view(order)),
      ...this.#inputs(rows, drawing, time),
      ...this.#stateInputs(rows, time),
      ...this.#windowMasks(order, time, past.pastMask?.dims.at(-1)),
    });
    const added = rows.map((row) => row.tokens.length);
    await this.#cache.append(order, added, outputs);
    this.#states?.replace(outputs);
    for (const { slot, copies } of rows)
      for (const copy of copies) this.fork(slot, copy, this.#cache.length(slot));
    const drawn = await this.#draw(drawing, outputs);
    return drawn.map((token, index) => ({ slot: drawing[index]!.slot, ...token }));
  }

  #inputs(rows: readonly Row[], drawing: readonly DrawingSlot[], time: number): Tensors {
    const tokens = new Int32Array(rows.length * time);
    const positions = new Int32Array(rows.length * time);
    for (const [b, row] of rows.entries()) {
      tokens.set(row.tokens, b * time);
      const past = this.#cache.length(row.slot);
      for (let s = 0; s < row.tokens.length; s++) positions[b * time + s] = past + s;
    }
    const temperatures = drawing.map(({ slot }) => this.#drawings.get(slot)!.drawing.temperature || 1);
    // Runtimes may refuse empty tensors: a run that draws nothing computes one distribution.
    const inverse = drawing.length > 0 ? temperatures.map((temperature) => 1 / temperature) : [1];
    const last =
      drawing.length > 0 ? drawing.map(({ row }) => row * time + rows[row]!.tokens.length - 1) : [0];
    return {
      tokens: tensor(tokens, [rows.length, time]),
      positions: tensor(positions, [rows.length, time]),
      mask: tensor(causalMask(time), [time, time]),
      inverseTemperature: tensor(Float32Array.from(inverse), [inverse.length, 1]),
      last: tensor(Int32Array.from(last), [last.length]),
    };
  }

  /** What layers that keep a state read beside it. */
  #stateInputs(rows: readonly Row[], time: number): Tensors {
    if (!this.#states) return {};
    const { config } = this.#model;
    const layers = [...Array(config.num_hidden_layers).keys()];
    const [count] = layers.flatMap((layer) => stateShapes(config, layer).inputs ?? []) as [number];
    const lengths = rows.map(({ tokens }) => tokens.length);
    const tails = lengths.flatMap((length, b) =>
      Array.from({ length: count }, (_, i) => b * (count + time) + length + i),
    );
    const fresh = lengths.flatMap((length) => Array.from({ length: time }, (_, s) => Number(s < length)));
    return {
      tails: tensor(Int32Array.from(tails), [rows.length, count]),
      finals: tensor(
        Int32Array.from(lengths, (length, b) => b * time + length - 1),
        [rows.length],
      ),
      fresh: tensor(Float32Array.from(fresh), [rows.length, time]),
      levels: levelsOf(time, longestRun),
    };
  }

  /** The masks of layers with a window, where the program reads masks. */
  #windowMasks(order: readonly number[], time: number, past: number | undefined): Tensors {
    const window = architectureOf(this.#model.config).window;
    if (window === undefined || past === undefined) return {};
    const lengths = order.map((slot) => this.#cache.length(slot));
    return {
      'window.pastMask': pastWindowMask(lengths, past, { time, window }),
      'window.mask': tensor(causalMask(time, window), [time, time]),
    };
  }

  async #draw(drawing: readonly DrawingSlot[], { probabilities, sums }: Tensors): Promise<DrawnToken[]> {
    const drawings = drawing.map(({ slot }) => this.#drawings.get(slot)!);
    if (this.#blocks) {
      const drawn = drawing.length > 0 ? await this.#blocks.draw(probabilities!, sums!, drawings) : [];
      probabilities!.dispose?.();
      return drawn;
    }
    const { vocab_size: vocabulary } = this.#model.config;
    const values = probabilities!.data as Float32Array;
    return drawings.map(({ drawing, rng }, row) =>
      drawToken(values.subarray(row * vocabulary, (row + 1) * vocabulary), drawing, rng),
    );
  }

  async #program(rows: readonly Row[], time: number): Promise<Executable> {
    const { weights, constants, config } = this.#model;
    const copied = this.#blocks ? 'sums' : 'probabilities';
    const compile = (
      length: 1 | 'S',
      more: Pick<CompileOptions, 'constants' | 'constantPrecision' | 'fewRows'> = {},
    ) =>
      this.#runtime.compile((ops) => samplingProgram(ops, config, length, this.#blocks?.count), {
        ...more,
        laidOut: (name) => this.#laidOut?.has(name) ?? false,
        stays: (name) => this.#cache.isResident && name !== copied,
      });
    if (!this.buildsIn) {
      const isOne = time === 1 && rows.every(({ draws, copies }) => draws && copies.length === 0);
      if (!isOne) return this.#programs.get('many', () => compile('S'));
      const { fewRows = 1 } = this.#runtime;
      return rows.length > 1 && rows.length <= fewRows
        ? this.#programs.get('few', () => compile(1, { fewRows: true }))
        : this.#programs.get('one', () => compile(1));
    }
    if (this.#builtFrom !== weights) await this.#programs.close('built');
    this.#builtFrom = weights;
    const isInt8 = this.#precision === 'int8';
    return this.#programs.get('built', () =>
      compile('S', { constants: { ...weights, ...constants }, ...(isInt8 && { constantPrecision: 'int8' }) }),
    );
  }

  /** Drops all slots and frees their memory. Compiled programs stay. */
  clear(): void {
    this.#cache.clear();
    this.#states?.clear();
    this.#drawings.clear();
    if (this.#keepsBuilt) return;
    void this.#programs.close('built');
    this.#laidOut?.drop();
  }

  async close(): Promise<void> {
    this.clear();
    await this.#programs.closeAll();
    await this.#cache.close();
    await this.#states?.close();
    await this.#blocks?.close();
    await this.#laidOut?.close();
  }
}

/** On the device if the device is other hardware, because copies to it are slow; else in this process. */
function createCache(runtime: Runtime, config: ModelConfig): KvCache {
  if (!runtime.memory?.isRemote) return new HostKvCache(runtime, config);
  return runtime.hasPools ? new PooledKvCache(config) : new ResidentKvCache(runtime, config);
}

/** A slot that draws a token, and the row that computes its distribution. */
interface DrawingSlot {
  slot: number;
  row: number;
}

function drawingSlots(rows: readonly Row[]): DrawingSlot[] {
  return rows.flatMap(({ slot, copies, draws }, row) =>
    draws ? [slot, ...copies].map((drawing) => ({ slot: drawing, row })) : [],
  );
}

/**
 * [T, T]: 0 at the positions that a row attends to, −1e9 at the others. A row attends to its own position and earlier ones, at most
 * `window` of them.
 */
function causalMask(time: number, window: number = time): Float32Array {
  const mask = new Float32Array(time * time);
  for (let row = 0; row < time; row++) {
    mask.fill(-1e9, row * time, row * time + Math.max(0, row + 1 - window));
    mask.fill(-1e9, row * time + row + 1, (row + 1) * time);
  }
  return mask;
}
