/** Parameters that are optimized together: the gradients that wait for them, and what AdamW remembers of earlier ones. */
import { type AdamW, ToolEnvError } from '@toolenv/core';
import { adamwProgram, adamwSettings, stateOf } from './adamw.ts';
import { type Executable, gradientOf, type Runtime, type Tensor, type Tensors, tensor } from './runtime.ts';

export type Shapes = ReadonlyMap<string, readonly number[]>;

/** Steps done, and for each parameter the mean and variance of its gradient. */
export interface OptimizerState {
  step: number;
  moments: Tensors;
}

export class ParameterGroup {
  readonly shapes: Shapes;
  state: OptimizerState;
  readonly #runtime: Runtime;
  #gradients: Map<string, Float32Array> | undefined;
  #program: Promise<Executable> | undefined;

  constructor(runtime: Runtime, shapes: Shapes) {
    this.#runtime = runtime;
    this.shapes = shapes;
    this.state = { step: 0, moments: zeroMoments(shapes) };
  }

  /** The shapes of `state.moments`, by name. */
  get momentShapes(): Shapes {
    return new Map(Object.entries(this.state.moments).map(([name, { dims }]) => [name, dims]));
  }

  /** Adds the gradients among a program's outputs. */
  accumulate(outputs: Tensors): void {
    const fresh = this.#gradients === undefined;
    this.#gradients ??= new Map();
    for (const name of this.shapes.keys()) {
      const contribution = outputs[gradientOf(name)]!.data as Float32Array;
      if (fresh) {
        this.#gradients.set(name, contribution);
        continue;
      }
      const sum = this.#gradients.get(name)!;
      for (let i = 0; i < sum.length; i++) sum[i]! += contribution[i]!;
    }
  }

  clearGradients(): void {
    this.#gradients = undefined;
  }

  /**
   * What one step on the accumulated gradients, which are cleared, makes of the weights and of `state`; neither is changed
   * here. `undefined` if there are no gradients.
   * @throws ToolEnvError `bug.gradient_not_finite`
   */
  async step(
    weights: Tensors,
    options: AdamW,
  ): Promise<{ weights: Tensors; state: OptimizerState; gradNorm: number } | undefined> {
    const gradients = this.#gradients;
    if (!gradients) return undefined;
    this.#gradients = undefined;
    this.#program ??= this.#runtime.compile(adamwProgram(this.shapes));
    const executable = await this.#program;
    const { moments } = this.state;
    const step = this.state.step + 1;
    const inputs: Tensors = { ...weights, ...moments, ...adamwSettings(options, step) };
    for (const [name, shape] of this.shapes)
      inputs[stateOf.gradient(name)] = tensor(gradients.get(name)!, shape);
    const outputs = await executable.run(inputs);
    const gradNorm = outputs.gradNorm!.data[0]!;
    if (!Number.isFinite(gradNorm)) {
      const message = `The gradient norm is ${gradNorm}: nothing was updated. A lower learning rate may help.`;
      throw new ToolEnvError('bug.gradient_not_finite', message);
    }
    const updated = (names: Iterable<string>): Tensors =>
      Object.fromEntries([...names].map((name) => [name, outputs[stateOf.updated(name)] as Tensor]));
    return {
      weights: updated(this.shapes.keys()),
      state: { step, moments: updated(Object.keys(moments)) },
      gradNorm,
    };
  }

  async close(): Promise<void> {
    await (await this.#program)?.close();
    this.#program = undefined;
  }
}

function zeroMoments(shapes: Shapes): Tensors {
  const moments: Tensors = {};
  for (const [name, shape] of shapes) {
    const size = shape.reduce((product, dim) => product * dim, 1);
    moments[stateOf.mean(name)] = tensor(new Float32Array(size), shape);
    moments[stateOf.variance(name)] = tensor(new Float32Array(size), shape);
  }
  return moments;
}
