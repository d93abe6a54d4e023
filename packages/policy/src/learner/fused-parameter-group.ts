/** Parameters, gradients and moments in a device's memory, where the runtime's own optimizer updates all of them at once. */
import type { AdamW } from '@toolenv/core/learner';
import { ResidentTensor, readTensorData } from '../runtime/resident-tensor.ts';
import {
  type DeviceMemory,
  type DeviceOptimizer,
  gradientOf,
  type Runtime,
  type Tensor,
  type Tensors,
  zeros,
} from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';
import { clipOf } from './adamw.ts';
import {
  meanOf,
  momentShapes,
  type OptimizerState,
  type ParameterGroup,
  varianceOf,
} from './parameter-group.ts';

/** In the order of the parameters. */
interface Moments {
  means: Tensor[];
  variances: Tensor[];
}

export class FusedParameterGroup implements ParameterGroup {
  readonly shapes: Shapes;
  readonly destination: Tensors = {};
  readonly #runtime: Runtime;
  readonly #memory: DeviceMemory;
  readonly #optimizer: DeviceOptimizer;
  readonly #names: readonly string[];
  #gradients: Tensor[] | undefined;
  /** Absent before the first step, because a policy that is only evaluated has a learner too. */
  #moments: Moments | undefined;
  #step = 0;

  /** @param runtime A runtime with a memory and an optimizer. */
  constructor(runtime: Runtime, shapes: Shapes) {
    this.#runtime = runtime;
    this.#memory = runtime.memory!;
    this.#optimizer = runtime.optimizer!;
    this.shapes = shapes;
    this.#names = [...shapes.keys()];
  }

  async areFinite(gradients: Tensors): Promise<boolean> {
    return Number.isFinite(await this.#optimizer.norm(this.#of(gradients)));
  }

  async accumulate(gradients: Tensors, share = 1): Promise<void> {
    this.#gradients = await this.#optimizer.accumulate(this.#gradients, this.#of(gradients), share);
  }

  clearGradients(): void {
    for (const gradient of this.#gradients ?? []) gradient.dispose?.();
    this.#gradients = undefined;
  }

  async gradNorm(): Promise<number | undefined> {
    return this.#gradients && this.#optimizer.norm(this.#gradients);
  }

  /** The given weights, which have changed, or their copies in the device's memory. Weight decay applies to matrices, as in Hugging Face's Trainer. */
  async step(weights: Tensors, options: AdamW, gradNorm: number): Promise<Tensors> {
    const {
      learningRate,
      weightDecay = 0,
      beta1 = 0.9,
      beta2 = 0.999,
      epsilon = 1e-8,
      maxGradNorm,
    } = options;
    this.#step += 1;
    const { means, variances } = await this.#allMoments();
    const resident: Tensors = {};
    for (const name of this.#names) {
      const weight = weights[name]!;
      resident[name] = weight instanceof ResidentTensor ? weight : await this.#memory.copy(weight);
    }
    for (const decays of [true, false]) {
      const chosen = [...this.shapes.values()].flatMap((shape, index) =>
        shape.length >= 2 === decays ? [index] : [],
      );
      if (chosen.length === 0) continue;
      const from = (tensors: readonly Tensor[]) => chosen.map((index) => tensors[index]!);
      await this.#optimizer.adamw(
        {
          weights: from(this.#names.map((name) => resident[name]!)),
          gradients: from(this.#gradients!),
          means: from(means),
          variances: from(variances),
        },
        {
          ...{ learningRate, beta1, beta2, epsilon, step: this.#step },
          weightDecay: decays ? weightDecay : 0,
          clip: clipOf(maxGradNorm, gradNorm),
        },
      );
    }
    this.clearGradients();
    return resident;
  }

  async state(): Promise<OptimizerState> {
    const { means, variances } = await this.#allMoments();
    const of = (name: (parameter: string) => string, tensors: readonly Tensor[]) =>
      Object.fromEntries(this.#names.map((parameter, index) => [name(parameter), tensors[index]!]));
    const moments = { ...of(meanOf, means), ...of(varianceOf, variances) };
    const inOrder = [...momentShapes(this.shapes).keys()].map((name) => [name, moments[name]!] as const);
    return { step: this.#step, moments: await readTensorData(this.#runtime, Object.fromEntries(inOrder)) };
  }

  async restore({ step, moments }: OptimizerState): Promise<void> {
    this.#forgetMoments();
    this.#moments = {
      means: await this.#placed((name) => moments[meanOf(name)]!),
      variances: await this.#placed((name) => moments[varianceOf(name)]!),
    };
    this.#step = step;
  }

  async close(): Promise<void> {
    this.clearGradients();
    this.#forgetMoments();
  }

  async #allMoments(): Promise<Moments> {
    const nothing = (name: string) => zeros(this.shapes.get(name)!);
    this.#moments ??= { means: await this.#placed(nothing), variances: await this.#placed(nothing) };
    return this.#moments;
  }

  async #placed(tensorOf: (name: string) => Tensor): Promise<Tensor[]> {
    const placed: Tensor[] = [];
    for (const name of this.#names) placed.push(await this.#memory.copy(tensorOf(name)));
    return placed;
  }

  #of(gradients: Tensors): Tensor[] {
    return this.#names.map((name) => gradients[gradientOf(name)]!);
  }

  #forgetMoments(): void {
    for (const tensor of [...(this.#moments?.means ?? []), ...(this.#moments?.variances ?? [])])
      tensor.dispose?.();
    this.#moments = undefined;
  }
}
