/** Parameters, gradients and moments in this process's memory. */
import type { AdamW } from '@toolenv/core/learner';
import { gradientOf, type Tensors, tensor } from '../runtime/runtime.ts';
import { type Shapes, sizeOf } from '../runtime/shape.ts';
import { adamwFactors, adamwStep } from './adamw.ts';
import { meanOf, type OptimizerState, type ParameterGroup, varianceOf } from './parameter-group.ts';

/** All gradients as one flat array, and views of it as the tensors `gradient <name>`. */
interface Gradients {
  flat: Float32Array;
  tensors: Tensors;
}

/** AdamW's moments, as flat arrays. */
interface Moments {
  mean: Float32Array;
  variance: Float32Array;
}

/** Keeps flat arrays, with the parameters that have weight decay first. A step then needs two loops, whatever the shapes. */
export class HostParameterGroup implements ParameterGroup {
  readonly shapes: Shapes;
  readonly #offsets: ReadonlyMap<string, number>;
  readonly #size: number;
  /** The number of values with weight decay. They are the matrices. */
  readonly #decayed: number;
  #step = 0;
  // Moments and gradients are allocated on first use, because a policy that is only evaluated has a learner too.
  #moments: Moments | undefined;
  /** The accumulated gradients. */
  #waiting: Gradients | undefined;
  /** The gradients of a later backward pass, before they are added. */
  #more: Gradients | undefined;
  #hasGradient = false;
  /** The weights that the last step returned. The next step overwrites them. */
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

  /** The moments are views, which the next step overwrites. */
  async state(): Promise<OptimizerState> {
    const means = this.#tensors(this.#flatMoments.mean, meanOf);
    return {
      step: this.#step,
      moments: { ...means, ...this.#tensors(this.#flatMoments.variance, varianceOf) },
    };
  }

  async restore({ step, moments }: OptimizerState): Promise<void> {
    this.#step = step;
    for (const [name, offset] of this.#offsets) {
      this.#flatMoments.mean.set(moments[meanOf(name)]!.data, offset);
      this.#flatMoments.variance.set(moments[varianceOf(name)]!.data, offset);
    }
  }

  get destination(): Tensors {
    return this.#arriving.tensors;
  }

  async areFinite(): Promise<boolean> {
    return Number.isFinite(normOf(this.#arriving.flat));
  }

  /** Adds the gradients at {@link destination}. */
  async accumulate(_gradients: Tensors, share = 1): Promise<void> {
    const { flat } = this.#gradients;
    if (this.#hasGradient) addTo(flat, this.#arriving.flat, share);
    else if (share !== 1) for (let i = 0; i < flat.length; i++) flat[i]! *= share;
    this.#hasGradient = true;
  }

  clearGradients(): void {
    this.#hasGradient = false;
  }

  async gradNorm(): Promise<number | undefined> {
    return this.#hasGradient ? normOf(this.#gradients.flat) : undefined;
  }

  /** Each step reuses the memory of the last one, because allocation would take longer than the step itself. */
  async step(weights: Tensors, options: AdamW, gradNorm: number): Promise<Tensors> {
    this.clearGradients();
    this.#step += 1;
    const flat = this.#flatWeights(weights);
    const arrays = { weight: flat, gradient: this.#gradients.flat, ...this.#flatMoments };
    const factors = (decays: boolean) => adamwFactors(options, { step: this.#step, gradNorm, decays });
    adamwStep(arrays, factors(true), { start: 0, end: this.#decayed });
    adamwStep(arrays, factors(false), { start: this.#decayed, end: this.#size });
    // Return new tensor objects: the sampler compares them to detect that its cache is stale.
    this.#weights = { flat, tensors: this.#tensors(flat) };
    return this.#weights.tensors;
  }

  async close(): Promise<void> {}

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

  /** Where the next backward pass writes: the first pass writes to the accumulated gradients directly. */
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

function addTo(sum: Float32Array, values: Float32Array, share: number): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += share * values[i]!;
}

function normOf(values: Float32Array): number {
  // Four sums, because each addition waits for the one before. An iterator takes ten times as long.
  let [a, b, c, d] = [0, 0, 0, 0];
  const end = values.length - (values.length % 4);
  for (let i = 0; i < end; i += 4) {
    a += values[i]! ** 2;
    b += values[i + 1]! ** 2;
    c += values[i + 2]! ** 2;
    d += values[i + 3]! ** 2;
  }
  for (let i = end; i < values.length; i++) a += values[i]! ** 2;
  return Math.sqrt(a + b + c + d);
}
