/** Parameters that are optimized together: the gradients that wait for them, and what AdamW remembers of earlier ones. */
import type { AdamW } from '@toolenv/core';
import { adamwProgram, adamwSettings } from './adamw.ts';
import { type Executable, gradientOf, type Runtime, type Tensors, tensor } from './runtime.ts';

export type Shapes = ReadonlyMap<string, readonly number[]>;

/** Steps done, and the moments `mean <name>` and `variance <name>` of each parameter's gradient. */
export interface OptimizerState {
  step: number;
  moments: Tensors;
}

/** Parameters are updated so many at a time: few enough that all that belongs to them stays in the processor's cache. */
const chunk = 2 ** 18;

/** Everything is kept flat, the parameters that decay first: a step's work is alike for all, whatever their shapes. */
export class ParameterGroup {
  readonly shapes: Shapes;
  readonly #runtime: Runtime;
  readonly #offsets: ReadonlyMap<string, number>;
  readonly #size: number;
  /** The first so many are of matrices, and decay. */
  readonly #decayed: number;
  #step = 0;
  readonly #mean: Float32Array;
  readonly #variance: Float32Array;
  readonly #gradient: Float32Array;
  #hasGradient = false;
  #program: Promise<Executable> | undefined;

  constructor(runtime: Runtime, shapes: Shapes) {
    this.#runtime = runtime;
    this.shapes = shapes;
    const offsets = new Map<string, number>();
    let offset = 0;
    const place = (isPlaced: (shape: readonly number[]) => boolean) => {
      for (const [name, shape] of shapes) {
        if (!isPlaced(shape)) continue;
        offsets.set(name, offset);
        offset += sizeOf(shape);
      }
      return offset;
    };
    this.#decayed = place((shape) => shape.length >= 2);
    this.#size = place((shape) => shape.length < 2);
    this.#offsets = offsets;
    this.#mean = new Float32Array(this.#size);
    this.#variance = new Float32Array(this.#size);
    this.#gradient = new Float32Array(this.#size);
  }

  /** Views, which the next step overwrites. */
  get state(): OptimizerState {
    const means = this.#tensors(this.#mean, (name) => `mean ${name}`);
    return {
      step: this.#step,
      moments: { ...means, ...this.#tensors(this.#variance, (name) => `variance ${name}`) },
    };
  }

  set state({ step, moments }: OptimizerState) {
    this.#step = step;
    for (const [name, offset] of this.#offsets) {
      this.#mean.set(moments[`mean ${name}`]!.data, offset);
      this.#variance.set(moments[`variance ${name}`]!.data, offset);
    }
  }

  /** The shapes of `state.moments`, by name. */
  get momentShapes(): Shapes {
    return new Map(Object.entries(this.state.moments).map(([name, { dims }]) => [name, dims]));
  }

  /** Adds the gradients among a program's outputs. */
  accumulate(outputs: Tensors): void {
    for (const [name, offset] of this.#offsets) {
      const { data } = outputs[gradientOf(name)]!;
      if (!this.#hasGradient) this.#gradient.set(data, offset);
      else for (let i = 0; i < data.length; i++) this.#gradient[offset + i]! += data[i]!;
    }
    this.#hasGradient = true;
  }

  clearGradients(): void {
    this.#hasGradient = false;
  }

  /** The norm of the accumulated gradients; `undefined` if there are none. */
  gradNorm(): number | undefined {
    if (!this.#hasGradient) return undefined;
    const gradient = this.#gradient;
    let squares = 0;
    // An iterator over so many would take ten times as long.
    for (let i = 0; i < gradient.length; i++) squares += gradient[i]! * gradient[i]!;
    return Math.sqrt(squares);
  }

  /** The weights after one step on the accumulated gradients, which it clears. Those given stay as they are. */
  async step(weights: Tensors, options: AdamW, gradNorm: number): Promise<Tensors> {
    this.#program ??= this.#runtime.compile(adamwProgram);
    const executable = await this.#program;
    this.clearGradients();
    this.#step += 1;
    const before = this.#flatWeights(weights);
    const after = new Float32Array(this.#size);
    for (const [from, to, decays] of [
      [0, this.#decayed, true],
      [this.#decayed, this.#size, false],
    ] as const) {
      const settings = adamwSettings(options, { step: this.#step, gradNorm, decays });
      for (let start = from; start < to; start += chunk) {
        const end = Math.min(to, start + chunk);
        const part = (flat: Float32Array) => tensor(flat.subarray(start, end), [end - start]);
        const { updatedWeight, updatedMean, updatedVariance } = await executable.run({
          ...settings,
          weight: part(before),
          gradient: part(this.#gradient),
          mean: part(this.#mean),
          variance: part(this.#variance),
        });
        after.set(updatedWeight!.data, start);
        this.#mean.set(updatedMean!.data, start);
        this.#variance.set(updatedVariance!.data, start);
      }
    }
    return this.#tensors(after);
  }

  async close(): Promise<void> {
    await (await this.#program)?.close();
    this.#program = undefined;
  }

  /** What an earlier step gave is flat already. */
  #flatWeights(weights: Tensors): Float32Array {
    const [first] = this.#offsets.keys();
    const { buffer } = weights[first!]!.data;
    const isFlat = [...this.#offsets].every(([name, offset]) => {
      const { data } = weights[name]!;
      return data.buffer === buffer && data.byteOffset === 4 * offset;
    });
    if (isFlat) return new Float32Array(buffer, 0, this.#size);
    const flat = new Float32Array(this.#size);
    for (const [name, offset] of this.#offsets) flat.set(weights[name]!.data, offset);
    return flat;
  }

  #tensors(flat: Float32Array, named = (name: string) => name): Tensors {
    const tensors = [...this.shapes].map(([name, shape]) => {
      const offset = this.#offsets.get(name)!;
      return [named(name), tensor(flat.subarray(offset, offset + sizeOf(shape)), shape)];
    });
    return Object.fromEntries(tensors);
  }
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1);
}
