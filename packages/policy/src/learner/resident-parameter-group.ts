/**
 * Parameters, gradients and moments in a device's memory. Some parameters are updated in one run, as one matrix of their numbers, because
 * launching an operation takes longer than its arithmetic. Only norms are copied to this process.
 */
import type { AdamW } from '@toolenv/core/learner';
import type { Ops } from '../runtime/ops.ts';
import { Programs } from '../runtime/programs.ts';
import { disposeTensors, readTensorData } from '../runtime/resident-tensor.ts';
import {
  type Executable,
  gradientOf,
  type Runtime,
  type Tensor,
  type Tensors,
  tensor,
  zeros,
} from '../runtime/runtime.ts';
import { largestDivisor, type Shapes, sizeOf } from '../runtime/shape.ts';
import { adamwFactors, adamwProgram, factorTensor } from './adamw.ts';
import {
  meanOf,
  momentShapes,
  type OptimizerState,
  type ParameterGroup,
  varianceOf,
} from './parameter-group.ts';

/** Parameters of one run at most: WebGPU guarantees an operation eight tensors, and a split has one input. */
const maxParameters = 7;
/** Numbers in the parameters of one run at most, unless it has a single parameter, so that few tensors exist twice at any time. */
const maxNumbers = 2 ** 25;
/** Numbers in a row of a batch's matrix at most. A device sums each row in threads of its own. */
const widestRow = 1024;

/** Parameters that are updated in one run. */
interface Batch {
  shapes: Map<string, readonly number[]>;
  /** The shape of the matrix of all their numbers. */
  matrix: readonly [rows: number, width: number];
  /** Whether weight decay applies. */
  decays: boolean;
  /** Matrices: the accumulated gradients, and the moments, which are 0 before the first step. */
  gradient?: Tensor | undefined;
  mean?: Tensor | undefined;
  variance?: Tensor | undefined;
}

export class ResidentParameterGroup implements ParameterGroup {
  readonly shapes: Shapes;
  readonly destination: Tensors = {};
  readonly #runtime: Runtime;
  readonly #programs: Programs = new Programs();
  readonly #batches: readonly Batch[];
  #steps = 0;

  constructor(runtime: Runtime, shapes: Shapes) {
    this.#runtime = runtime;
    this.shapes = shapes;
    this.#batches = batchesOf(shapes);
  }

  async areFinite(gradients: Tensors): Promise<boolean> {
    const shapes = new Map([...this.shapes].map(([name, shape]) => [gradientOf(name), shape]));
    return Number.isFinite(await this.#normOf('norm of parameters', shapes, gradients));
  }

  async accumulate(gradients: Tensors, share = 1): Promise<void> {
    for (const batch of this.#batches) {
      const { shapes, gradient: before } = batch;
      const given = numbered(
        'gradient',
        [...shapes.keys()].map((name) => gradients[gradientOf(name)]!),
      );
      const kind = `${share === 1 ? 'all' : 'a share'} ${before ? 'more' : ''}`;
      const program = await this.#program(`add ${kind}`, batch, (ops) => {
        const whole = joined(ops, vectors(ops, 'gradient', batch), batch);
        const part = share === 1 ? whole : ops.mul(whole, ops.input('share', 'float32', []));
        return { gradient: before ? ops.add(part, ops.input('before', 'float32', batch.matrix)) : part };
      });
      const inputs = { ...given, share: tensor(Float32Array.of(share), []), ...(before && { before }) };
      batch.gradient = (await program.run(inputs)).gradient!;
      disposeTensors(given);
      before?.dispose?.();
    }
  }

  clearGradients(): void {
    for (const batch of this.#batches) {
      batch.gradient?.dispose?.();
      batch.gradient = undefined;
    }
  }

  async gradNorm(): Promise<number | undefined> {
    if (!this.#batches[0]?.gradient) return undefined;
    const named = (index: number) => gradientOf(`of batch ${index}`);
    const shapes = new Map(this.#batches.map(({ matrix }, index) => [named(index), matrix]));
    const gradients = this.#batches.map(({ gradient }, index) => [named(index), gradient!] as const);
    return this.#normOf('norm of batches', shapes, Object.fromEntries(gradients));
  }

  async step(weights: Tensors, options: AdamW, gradNorm: number): Promise<Tensors> {
    this.#steps += 1;
    const updated: Tensors = {};
    for (const batch of this.#batches) {
      const names = [...batch.shapes.keys()];
      const given = numbered(
        'weight',
        names.map((name) => weights[name]!),
      );
      const matrices = {
        gradient: batch.gradient!,
        mean: batch.mean ?? zeros(batch.matrix),
        variance: batch.variance ?? zeros(batch.matrix),
      };
      batch.gradient = undefined;
      const factors = adamwFactors(options, { step: this.#steps, gradNorm, decays: batch.decays });
      const program = await this.#program('adamw', batch, (ops) => stepOf(ops, batch));
      const found = await program.run({ ...given, ...matrices, factors: factorTensor(factors) });
      disposeTensors({ ...given, ...matrices });
      for (const [index, name] of names.entries()) updated[name] = found[`updated weight ${index}`]!;
      batch.mean = found['updated mean']!;
      batch.variance = found['updated variance']!;
    }
    return updated;
  }

  async state(): Promise<OptimizerState> {
    const moments: Tensors = {};
    for (const { shapes, matrix, mean, variance } of this.#batches) {
      const given = { mean: mean ?? zeros(matrix), variance: variance ?? zeros(matrix) };
      const read = await readTensorData(this.#runtime, given);
      let start = 0;
      for (const [name, shape] of shapes) {
        const part = ({ data }: Tensor) => tensor(data.slice(start, start + sizeOf(shape)), shape);
        moments[meanOf(name)] = part(read.mean!);
        moments[varianceOf(name)] = part(read.variance!);
        start += sizeOf(shape);
      }
    }
    const inOrder = [...momentShapes(this.shapes).keys()].map((name) => [name, moments[name]!] as const);
    return { step: this.#steps, moments: Object.fromEntries(inOrder) };
  }

  async restore({ step, moments }: OptimizerState): Promise<void> {
    for (const batch of this.#batches) {
      const whole = (of: (name: string) => string) => {
        const data = new Float32Array(sizeOf(batch.matrix));
        let start = 0;
        for (const [name, shape] of batch.shapes) {
          data.set(moments[of(name)]!.data, start);
          start += sizeOf(shape);
        }
        return this.#runtime.memory!.copy(tensor(data, batch.matrix));
      };
      const [mean, variance] = [await whole(meanOf), await whole(varianceOf)];
      forgetMoments(batch);
      Object.assign(batch, { mean, variance });
    }
    this.#steps = step;
  }

  async close(): Promise<void> {
    this.clearGradients();
    for (const batch of this.#batches) forgetMoments(batch);
    await this.#programs.closeAll();
  }

  async #normOf(name: string, shapes: Shapes, gradients: Tensors): Promise<number> {
    const compile = () => this.#runtime.compile((ops) => ({ squares: sumOfSquares(ops, shapes) }));
    const { squares } = await (await this.#programs.get(name, compile)).run(gradients);
    return Math.sqrt(squares!.data[0]!);
  }

  /** A program whose outputs stay on the device. Batches of the same shapes share it. */
  #program(
    name: string,
    { shapes }: Batch,
    program: <T>(ops: Ops<T>) => Record<string, T>,
  ): Promise<Executable> {
    const key = `${name} of ${[...shapes.values()].map((shape) => `[${shape}]`)}`;
    return this.#programs.get(key, () => this.#runtime.compile(program, { stays: () => true }));
  }
}

function forgetMoments(batch: Batch): void {
  batch.mean?.dispose?.();
  batch.variance?.dispose?.();
  batch.mean = undefined;
  batch.variance = undefined;
}

/** Each row has a sum of its own, because a device computes the sum of all numbers of a matrix in few threads. */
function sumOfSquares<T>(ops: Ops<T>, shapes: Shapes): T {
  const rows = [...shapes].map(([name, shape]) => {
    const gradient = ops.input(name, 'float32', shape);
    return ops.reshape(ops.sum(ops.mul(gradient, gradient), [-1]), [sizeOf(shape.slice(0, -1))]);
  });
  return ops.sumAll(ops.concat(rows, 0));
}

/** The tensors that {@link numbered} has named, as vectors. */
function vectors<T>(ops: Ops<T>, name: string, { shapes }: Batch): T[] {
  return [...shapes.values()].map((shape, index) =>
    ops.reshape(ops.input(`${name} ${index}`, 'float32', shape), [sizeOf(shape)]),
  );
}

/** The matrix of the numbers of all vectors. */
function joined<T>(ops: Ops<T>, parts: readonly T[], { matrix }: Batch): T {
  return ops.reshape(parts.length === 1 ? parts[0]! : ops.concat(parts, 0), matrix);
}

function stepOf<T>(ops: Ops<T>, batch: Batch): Record<string, T> {
  const { matrix, shapes } = batch;
  const given = (name: string) => ops.input(name, 'float32', matrix);
  const weights = vectors(ops, 'weight', batch);
  const { weight, mean, variance } = adamwProgram(ops, {
    weight: joined(ops, weights, batch),
    gradient: given('gradient'),
    mean: given('mean'),
    variance: given('variance'),
  });
  const outputs: Record<string, T> = { 'updated mean': mean, 'updated variance': variance };
  const whole = ops.reshape(weight, [sizeOf(matrix)]);
  const pieces = weights.length === 1 ? [whole] : ops.split(whole, 0, weights);
  for (const [index, shape] of [...shapes.values()].entries())
    outputs[`updated weight ${index}`] = ops.reshape(pieces[index]!, shape);
  return outputs;
}

/** In the order of the parameters, so that the layers of a model have the same batches. */
function batchesOf(shapes: Shapes): Batch[] {
  const batches: Map<string, readonly number[]>[] = [];
  const decays = (shape: readonly number[]) => shape.length >= 2;
  for (const decaying of [true, false]) {
    let numbers = Number.POSITIVE_INFINITY;
    for (const [name, shape] of shapes) {
      if (decays(shape) !== decaying) continue;
      numbers += sizeOf(shape);
      if (numbers > maxNumbers || batches.at(-1)!.size >= maxParameters) {
        batches.push(new Map());
        numbers = sizeOf(shape);
      }
      batches.at(-1)!.set(name, shape);
    }
  }
  return batches.map((shapes) => {
    const all = [...shapes.values()];
    const numbers = all.reduce((sum, shape) => sum + sizeOf(shape), 0);
    const width = largestDivisor(numbers, widestRow);
    return { shapes, matrix: [numbers / width, width], decays: decays(all[0]!) };
  });
}

/** Tensors under the names of a program's inputs: `<name> <index>`. */
function numbered(name: string, tensors: readonly Tensor[]): Tensors {
  return Object.fromEntries(tensors.map((value, index) => [`${name} ${index}`, value]));
}
