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
import { anyShape, type Shapes, sizeOf } from '../runtime/shape.ts';
import { adamwFactors, adamwProgram } from './adamw.ts';
import {
  meanOf,
  momentShapes,
  type OptimizerState,
  type ParameterGroup,
  varianceOf,
} from './parameter-group.ts';

/** Parameters of one run at most. A run has a fixed cost. */
const mostParameters = 32;
/** Numbers in the parameters of one run at most, unless it has a single parameter, so that few tensors exist twice at any time. */
const mostNumbers = 2 ** 25;

export class ResidentParameterGroup implements ParameterGroup {
  readonly shapes: Shapes;
  readonly destination: Tensors = {};
  readonly #runtime: Runtime;
  readonly #programs: Programs = new Programs();
  /** The names of the parameters that run together, which have the same rank. */
  readonly #batches: string[][];
  #steps = 0;
  /** Empty before the first step; missing moments are 0. */
  #moments: Tensors = {};
  #waiting: Tensors | undefined;

  constructor(runtime: Runtime, shapes: Shapes) {
    this.#runtime = runtime;
    this.shapes = shapes;
    this.#batches = batchesOf(shapes);
  }

  async areFinite(gradients: Tensors): Promise<boolean> {
    return Number.isFinite(await this.#normOf(gradients));
  }

  async accumulate(gradients: Tensors, share = 1): Promise<void> {
    if (!this.#waiting && share === 1) {
      this.#waiting = Object.fromEntries(this.#keys.map((key) => [key, gradients[key]!]));
      return;
    }
    const before = this.#waiting;
    this.#waiting = {};
    for (const names of this.#batches) {
      const rank = this.shapes.get(names[0]!)!.length;
      const rankBefore = before ? rank : 0;
      const keys = names.map(gradientOf);
      const given = numbered({
        gradient: keys.map((key) => gradients[key]!),
        before: keys.map((key) => before?.[key] ?? scalar(0)),
      });
      const program = await this.#program(`add ${names.length} of ${rank} to ${rankBefore}`, (ops) =>
        eachOf(names, (index) => weightedSum(ops, index, rank, rankBefore)),
      );
      const found = await program.run({ ...given, share: scalar(share) });
      disposeTensors(given);
      for (const [index, key] of keys.entries()) this.#waiting[key] = found[`sum ${index}`]!;
    }
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
    for (const names of this.#batches) {
      const rank = this.shapes.get(names[0]!)!.length;
      const moments = (of: (name: string) => string) =>
        names.map((name) => this.#moments[of(name)] ?? zeros(this.shapes.get(name)!));
      const given = numbered({
        weight: names.map((name) => weights[name]!),
        gradient: names.map((name) => gradients[gradientOf(name)]!),
        mean: moments(meanOf),
        variance: moments(varianceOf),
      });
      const factors = adamwFactors(options, { step: this.#steps, gradNorm, decays: rank >= 2 });
      const scalars = Object.entries(factors).map(([factor, value]) => [factor, scalar(value)]);
      const program = await this.#program(`adamw of ${names.length} of ${rank}`, (ops) =>
        eachOf(names, (index) => adamwProgram(ops, index, rank)),
      );
      const found = await program.run({ ...given, ...Object.fromEntries(scalars) });
      disposeTensors(given);
      for (const [index, name] of names.entries()) {
        updated[name] = found[`updated weight ${index}`]!;
        this.#moments[meanOf(name)] = found[`updated mean ${index}`]!;
        this.#moments[varianceOf(name)] = found[`updated variance ${index}`]!;
      }
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

  get #keys(): string[] {
    return [...this.shapes.keys()].map(gradientOf);
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

/** `sum <index>`: gradient · share + before. */
function weightedSum<T>(ops: Ops<T>, index: number, rank: number, rankBefore: number): Record<string, T> {
  const given = (name: string, rank: number) =>
    ops.input(`${name} ${index}`, 'float32', anyShape(rank, index));
  const addend = ops.mul(given('gradient', rank), ops.input('share', 'float32', []));
  return { [`sum ${index}`]: ops.add(addend, given('before', rankBefore)) };
}

function batchesOf(shapes: Shapes): string[][] {
  const batches: { names: string[]; rank: number; numbers: number }[] = [];
  for (const [name, shape] of [...shapes].sort(([, a], [, b]) => b.length - a.length)) {
    const numbers = sizeOf(shape);
    const last = batches.at(-1);
    const fits =
      last?.rank === shape.length &&
      last.names.length < mostParameters &&
      last.numbers + numbers <= mostNumbers;
    if (!fits) batches.push({ names: [name], rank: shape.length, numbers });
    else {
      last.names.push(name);
      last.numbers += numbers;
    }
  }
  return batches.map(({ names }) => names);
}

/** The tensors under the names of a program's inputs: `<name> <index>`. */
function numbered(lists: Record<string, Tensor[]>): Tensors {
  const named = Object.entries(lists).flatMap(([name, tensors]) =>
    tensors.map((value, index) => [`${name} ${index}`, value] as const),
  );
  return Object.fromEntries(named);
}

/** The outputs for each of the names. */
function eachOf<T>(
  names: readonly string[],
  outputs: (index: number) => Record<string, T>,
): Record<string, T> {
  return Object.assign({}, ...names.map((_, index) => outputs(index)));
}

function scalar(value: number): Tensor {
  return tensor(Float32Array.of(value), []);
}
