/** Parameters that are optimized together: the gradients that wait for them, and what AdamW remembers of earlier ones. */
import type { AdamW } from '@toolenv/core';
import { adamwStep } from './adamw.ts';
import { gradientOf, type Tensors, tensor } from './runtime.ts';
import { sizeOf } from './shape.ts';

export type Shapes = ReadonlyMap<string, readonly number[]>;

/** Steps done, and the moments `mean <name>` and `variance <name>` of each parameter's gradient. */
export interface OptimizerState {
  step: number;
  moments: Tensors;
}

/** Flat, and as the tensors that programs call `gradient <name>`. */
interface Gradients {
  flat: Float32Array;
  tensors: Tensors;
}

/** Flat, of the gradients of all steps. */
interface Moments {
  mean: Float32Array;
  variance: Float32Array;
}

/** Everything is kept flat, the parameters that decay first: a step's work is alike for all, whatever their shapes. */
export class ParameterGroup {
  readonly shapes: Shapes;
  readonly #offsets: ReadonlyMap<string, number>;
  readonly #size: number;
  /** The first so many are of matrices, and decay. */
  readonly #decayed: number;
  #step = 0;
  // Made when they are first asked for: a policy that is only evaluated has a learner, too.
  #moments: Moments | undefined;
  /** Those that wait, and those that are to be added. */
  #waiting: Gradients | undefined;
  #more: Gradients | undefined;
  #hasGradient = false;
  /** What the last step gave, which the next writes over. */
  #weights: { flat: Float32Array; tensors: Tensors } | undefined;

  constructor(shapes: Shapes) {
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
  }

  /** Views, which the next step overwrites. */
  get state(): OptimizerState {
    const means = this.#tensors(this.#flatMoments.mean, meanOf);
    return {
      step: this.#step,
      moments: { ...means, ...this.#tensors(this.#flatMoments.variance, varianceOf) },
    };
  }

  set state({ step, moments }: OptimizerState) {
    this.#step = step;
    for (const [name, offset] of this.#offsets) {
      this.#flatMoments.mean.set(moments[meanOf(name)]!.data, offset);
      this.#flatMoments.variance.set(moments[varianceOf(name)]!.data, offset);
    }
  }

  /** The shapes of `state.moments`, by name. */
  get momentShapes(): Shapes {
    return new Map(
      [meanOf, varianceOf].flatMap((of) => [...this.shapes].map(([name, shape]) => [of(name), shape])),
    );
  }

  /** Where a program is to write its gradients, which {@link accumulate} then adds to those that wait. */
  get destination(): Tensors {
    return this.#arriving.tensors;
  }

  /** Whether what a program has written to {@link destination} is finite. */
  get arrivedFinite(): boolean {
    return Number.isFinite(normOf(this.#arriving.flat));
  }

  /** @param share What is added is so many times what has arrived. */
  accumulate(share = 1): void {
    const { flat } = this.#gradients;
    if (this.#hasGradient) addTo(flat, this.#arriving.flat, share);
    else if (share !== 1) for (let i = 0; i < flat.length; i++) flat[i]! *= share;
    this.#hasGradient = true;
  }

  clearGradients(): void {
    this.#hasGradient = false;
  }

  /** The norm of the accumulated gradients; `undefined` if there are none. */
  gradNorm(): number | undefined {
    return this.#hasGradient ? normOf(this.#gradients.flat) : undefined;
  }

  /**
   * The weights after one step on the accumulated gradients, which it clears. The next step writes over them: to ask for new
   * memory each time would take longer than the step itself.
   */
  step(weights: Tensors, options: AdamW, gradNorm: number): Tensors {
    this.clearGradients();
    this.#step += 1;
    const flat = this.#flatWeights(weights);
    const arrays = { weight: flat, gradient: this.#gradients.flat, ...this.#flatMoments };
    const common = { step: this.#step, gradNorm };
    adamwStep(arrays, options, { ...common, start: 0, end: this.#decayed, decays: true });
    adamwStep(arrays, options, { ...common, start: this.#decayed, end: this.#size, decays: false });
    // Tensors that a runtime has not seen yet: it may have kept a copy of the last ones.
    this.#weights = { flat, tensors: this.#tensors(flat) };
    return this.#weights.tensors;
  }

  #flatWeights(weights: Tensors): Float32Array {
    if (this.#weights?.tensors === weights) return this.#weights.flat;
    const flat = this.#weights?.flat ?? new Float32Array(this.#size);
    for (const [name, offset] of this.#offsets) flat.set(weights[name]!.data, offset);
    return flat;
  }

  get #flatMoments(): Moments {
    this.#moments ??= { mean: new Float32Array(this.#size), variance: new Float32Array(this.#size) };
    return this.#moments;
  }

  get #gradients(): Gradients {
    this.#waiting ??= this.#newGradients();
    return this.#waiting;
  }

  /** The first to arrive are those that wait. */
  get #arriving(): Gradients {
    if (!this.#hasGradient) return this.#gradients;
    this.#more ??= this.#newGradients();
    return this.#more;
  }

  #newGradients(): Gradients {
    const flat = new Float32Array(this.#size);
    return { flat, tensors: this.#tensors(flat, gradientOf) };
  }

  #tensors(flat: Float32Array, named = (name: string) => name): Tensors {
    const tensors = [...this.shapes].map(([name, shape]) => {
      const offset = this.#offsets.get(name)!;
      return [named(name), tensor(flat.subarray(offset, offset + sizeOf(shape)), shape)];
    });
    return Object.fromEntries(tensors);
  }
}

const meanOf = (name: string) => `mean ${name}`;
const varianceOf = (name: string) => `variance ${name}`;

function addTo(sum: Float32Array, values: Float32Array, share: number): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += share * values[i]!;
}

function normOf(values: Float32Array): number {
  let squares = 0;
  // An iterator over so many would take ten times as long.
  for (let i = 0; i < values.length; i++) squares += values[i]! * values[i]!;
  return Math.sqrt(squares);
}
