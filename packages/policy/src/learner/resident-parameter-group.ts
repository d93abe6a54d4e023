/** Parameters, gradients and moments in a device's memory. Only norms are copied to this process. */
import type { AdamW } from '@toolenv/core/learner';
import type { Ops, Program } from '../runtime/ops.ts';
import { Programs } from '../runtime/programs.ts';
import { disposeTensors, placeTensors, readTensorData } from '../runtime/resident-tensor.ts';
import {
  type Executable,
  gradientOf,
  type Runtime,
  type Tensor,
  type Tensors,
  tensor,
  zeros,
} from '../runtime/runtime.ts';
import { anyShape, type Shapes } from '../runtime/shape.ts';
import { adamwFactors, adamwProgram } from './adamw.ts';
import {
  meanOf,
  momentShapes,
  type OptimizerState,
  type ParameterGroup,
  varianceOf,
} from './parameter-group.ts';

/** All programs except the norm take one parameter at a time, so that few tensors exist twice at any time. */
export class ResidentParameterGroup implements ParameterGroup {
  readonly shapes: Shapes;
  readonly destination: Tensors = {};
  readonly #runtime: Runtime;
  readonly #programs: Programs = new Programs();
  #steps = 0;
  /** Empty before the first step; missing moments are 0. */
  #moments: Tensors = {};
  #waiting: Tensors | undefined;

  constructor(runtime: Runtime, shapes: Shapes) {
    this.#runtime = runtime;
    this.shapes = shapes;
  }

  async areFinite(gradients: Tensors): Promise<boolean> {
    return Number.isFinite(await this.#normOf(gradients));
  }

  async accumulate(gradients: Tensors, share = 1): Promise<void> {
    const sums: Tensors = {};
    for (const [name, { length: rank }] of this.shapes) {
      const key = gradientOf(name);
      const [gradient, before] = [gradients[key]!, this.#waiting?.[key]];
      sums[key] = gradient;
      if (!before && share === 1) continue;
      const given = { gradient, before: before ?? scalar(0), share: scalar(share) };
      const { length: rankBefore } = given.before.dims;
      const program = await this.#program(`add ${rank} to ${rankBefore}`, (ops) =>
        weightedSum(ops, rank, rankBefore),
      );
      sums[key] = (await program.run(given)).sum!;
      disposeTensors(given);
    }
    this.#waiting = sums;
  }

  clearGradients(): void {
    disposeTensors(this.#waiting ?? {});
    this.#waiting = undefined;
  }

  async gradNorm(): Promise<number | undefined> {
    return this.#waiting && this.#normOf(this.#waiting);
  }

  async step(weights: Tensors, options: AdamW, gradNorm: number): Promise<Tensors> {
    const gradients = this.#waiting!;
    this.#waiting = undefined;
    this.#steps += 1;
    const updated: Tensors = {};
    for (const [name, shape] of this.shapes) {
      const { length: rank } = shape;
      const given = {
        weight: weights[name]!,
        gradient: gradients[gradientOf(name)]!,
        mean: this.#moments[meanOf(name)] ?? zeros(shape),
        variance: this.#moments[varianceOf(name)] ?? zeros(shape),
      };
      const factors = adamwFactors(options, { step: this.#steps, gradNorm, decays: rank >= 2 });
      const scalars = Object.entries(factors).map(([factor, value]) => [factor, scalar(value)]);
      const program = await this.#program(`adamw ${rank}`, (ops) => adamwProgram(ops, rank));
      const found = await program.run({ ...given, ...Object.fromEntries(scalars) });
      disposeTensors(given);
      updated[name] = found['updated weight']!;
      this.#moments[meanOf(name)] = found['updated mean']!;
      this.#moments[varianceOf(name)] = found['updated variance']!;
    }
    return updated;
  }

  async state(): Promise<OptimizerState> {
    const moments: Tensors = {};
    for (const [name, shape] of momentShapes(this.shapes))
      moments[name] = this.#moments[name] ?? zeros(shape);
    return { step: this.#steps, moments: await readTensorData(this.#runtime, moments) };
  }

  async restore({ step, moments }: OptimizerState): Promise<void> {
    const placed = await placeTensors(this.#runtime, moments);
    disposeTensors(this.#moments);
    this.#moments = placed;
    this.#steps = step;
  }

  async close(): Promise<void> {
    this.clearGradients();
    disposeTensors(this.#moments);
    this.#moments = {};
    await this.#programs.closeAll();
  }

  async #normOf(gradients: Tensors): Promise<number> {
    const norm = await this.#programs.get('norm', () =>
      this.#runtime.compile((ops) => ({ squares: sumOfSquares(ops, this.shapes) })),
    );
    const { squares } = await norm.run(gradients);
    return Math.sqrt(squares!.data[0]!);
  }

  /** A program whose outputs stay on the device. */
  #program(name: string, program: Program): Promise<Executable> {
    return this.#programs.get(name, () => this.#runtime.compile(program, { stays: () => true }));
  }
}

function sumOfSquares<T>(ops: Ops<T>, shapes: Shapes): T {
  const sums = [...shapes].map(([name, shape]) => {
    const gradient = ops.input(gradientOf(name), 'float32', shape);
    return ops.sumAll(ops.mul(gradient, gradient));
  });
  return sums.reduce((total, sum) => ops.add(total, sum));
}

/** gradient · share + before. */
function weightedSum<T>(ops: Ops<T>, rank: number, rankBefore: number): Record<'sum', T> {
  const given = (name: string, rank: number) => ops.input(name, 'float32', anyShape(rank));
  const addend = ops.mul(given('gradient', rank), given('share', 0));
  return { sum: ops.add(addend, given('before', rankBefore)) };
}

function scalar(value: number): Tensor {
  return tensor(Float32Array.of(value), []);
}
