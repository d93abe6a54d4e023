/** Engine: compiles recorded programs, runs them on libtorch, and keeps tensors between runs. */
import { type AdamWUpdate, type GradientRequest, gradientOf, type Tensor } from '@toolenv/policy/runtime';
import { readState, writeState } from './engine-state.ts';
import { mapLarge } from './freed-memory.ts';
import { GradientTape } from './gradient-tape.ts';
import { Kernels } from './kernels.ts';
import { type CompileRequest, PreparedProgram } from './prepared-program.ts';
import { measureProducts, type ProductTimes } from './product-times.ts';
import { type Precision, SharedValues } from './shared-values.ts';
import { TorchLibrary } from './torch-library.ts';
import { TorchOps } from './torch-ops.ts';
import { TorchTensor } from './torch-tensor.ts';

/** A tensor in JavaScript's memory. */
export type Numbers = Pick<Tensor, 'data' | 'dims'>;

/** A tensor that the engine keeps, by its number. */
export interface Kept {
  kept: number;
  dims: readonly number[];
}

interface Compiled {
  request: CompileRequest;
  program: PreparedProgram;
  inputs: readonly string[];
  stays: ReadonlySet<string>;
  /** Whether it samples, with a cache of keys and values. */
  samples: boolean;
}

export class Engine {
  readonly version: string;
  readonly #kernels: Kernels;
  readonly #programs: Map<number, Compiled> = new Map();
  readonly #kept: Map<number, TorchTensor> = new Map();
  readonly #precision: Precision;
  /** Kept weights in the precision of products, until they change. */
  readonly #narrowed: Map<TorchTensor, TorchTensor> = new Map();
  #count = 0;
  #earlierPeak = 0;

  /** @throws ToolEnvError `usage.libtorch`. */
  constructor(folder: string, precision: Precision = 'float32') {
    const library = new TorchLibrary(folder);
    this.version = library.version;
    this.#kernels = new Kernels(library);
    this.#precision = precision;
  }

  /** Calls a method. If it fails, only tensors are left that were kept before. */
  attempt<Result>(call: () => Result): Result {
    const before = this.#count;
    try {
      return call();
    } catch (error) {
      this.#forgetSince(before);
      throw error;
    }
  }

  /** @returns The program's number, and the names of the inputs that its runs need. */
  compile(request: CompileRequest): { id: number; inputs: readonly string[] } {
    this.#count += 1;
    const compiled = prepared(request);
    this.#programs.set(this.#count, compiled);
    return { id: this.#count, inputs: compiled.inputs };
  }

  close(program: number): void {
    this.#programs.delete(program);
  }

  productTimes(): ProductTimes {
    return measureProducts(this.#kernels);
  }

  /** The most memory that this process, or a process before it, has had, in bytes. */
  peakMemory(): number {
    return Math.max(this.#earlierPeak, 1024 * process.resourceUsage().maxRSS);
  }

  /** Writes all that another engine needs to go on. */
  save(file: string): void {
    const programs = new Map([...this.#programs].map(([id, { request }]) => [id, request]));
    const state = { count: this.#count, peakMemory: this.peakMemory(), programs, kept: this.#kept };
    writeState(file, state, this.#kernels);
  }

  /** Takes over what another engine has written. */
  restore(file: string): void {
    const { count, peakMemory, programs, kept } = readState(file, this.#kernels);
    [this.#count, this.#earlierPeak] = [count, peakMemory];
    for (const [id, request] of programs) this.#programs.set(id, prepared(request));
    for (const [id, tensor] of kept) this.#kept.set(id, tensor);
  }

  /** Tensors in memory, and those of them that the other side knows by number. */
  count(): { alive: number; kept: number } {
    return { alive: TorchTensor.living.size, kept: this.#kept.size };
  }

  /** @param inputs In the order of the program's: numbers, or a tensor that the engine keeps. */
  run(id: number, inputs: readonly (Numbers | Kept['kept'] | undefined)[]): Record<string, Numbers | Kept> {
    const { request, program, inputs: needed, stays, samples } = this.#programs.get(id)!;
    mapLarge(samples);
    const given = new Map<string, TorchTensor>();
    for (const [index, name] of needed.entries()) {
      const value = inputs[index];
      if (value === undefined) throw new RangeError(`Input "${name}" is missing.`);
      const isKept = typeof value === 'number';
      given.set(name, isKept ? this.#tensorOf(value).keep() : this.#take(value, stays.size > 0));
    }
    const outputs = this.#compute(program, (name) => given.get(name)!, request.gradients);
    const found = Object.entries(outputs).map(([name, value]) => [name, this.#give(value, stays.has(name))]);
    for (const [index, name] of needed.entries()) {
      const value = given.get(name)!;
      if (typeof inputs[index] !== 'number') this.#forget(value);
      value.drop();
    }
    return Object.fromEntries(found);
  }

  copy(value: Numbers | Kept): Kept {
    return this.#keep(
      'kept' in value ? this.#kernels.clone(this.#tensorOf(value.kept)) : this.#take(value, true),
    );
  }

  read(value: Kept): Numbers {
    return { data: this.#read(this.#tensorOf(value.kept)), dims: value.dims };
  }

  dispose(...tensors: Kept[]): void {
    for (const { kept } of tensors) {
      const value = this.#kept.get(kept);
      if (!value) continue;
      this.#forget(value);
      value.drop();
      this.#kept.delete(kept);
    }
  }

  /** sums + share · gradients, in the place of both. */
  accumulate(sums: readonly Kept[] | undefined, gradients: readonly Kept[], share: number): Kept[] {
    if (!sums && share === 1) return [...gradients];
    return gradients.map((each, index) => {
      const gradient = this.#tensorOf(each.kept);
      const sum = sums?.[index];
      const made = sum
        ? this.#kernels.add(this.#tensorOf(sum.kept), gradient, share)
        : this.#kernels.tidy(() => this.#kernels.mul(gradient, this.#kernels.full([], share)));
      this.dispose(each);
      if (sum) this.dispose(sum);
      return this.#keep(made);
    });
  }

  norm(tensors: readonly Kept[]): number {
    return Math.hypot(...tensors.map(({ kept }) => this.#kernels.norm(this.#tensorOf(kept))));
  }

  adamw(
    {
      weights,
      gradients,
      means,
      variances,
    }: Record<'weights' | 'gradients' | 'means' | 'variances', readonly Kept[]>,
    update: AdamWUpdate,
  ): void {
    const lists = [weights, gradients, means, variances].map((list) =>
      list.map(({ kept }) => this.#tensorOf(kept)),
    );
    for (const weight of lists[0]!) this.#forget(weight);
    this.#kernels.adamw(lists as [TorchTensor[], TorchTensor[], TorchTensor[], TorchTensor[]], update);
  }

  #compute(
    program: PreparedProgram,
    given: (name: string) => TorchTensor,
    request: GradientRequest | undefined,
  ): Record<string, TorchTensor> {
    const sources = (request?.to ?? []).map(given);
    const tape = new GradientTape(this.#kernels, sources);
    const shared = new SharedValues(this.#kernels, this.#precision, this.#narrowed);
    const ops = new TorchOps(this.#kernels, given, tape, shared);
    const { outputs, end } = program.run(ops);
    if (request) {
      const loss = outputs[request.of];
      if (!loss) throw new RangeError(`The program has no output "${request.of}" to differentiate.`);
      const gradients = tape.pullBack([[loss, ops.one()]], sources);
      for (const [index, name] of request.to.entries()) {
        if (!gradients[index]) throw new RangeError(`The loss does not depend on "${name}".`);
        // The optimizer's kernel reads numbers in the order of their memory.
        outputs[gradientOf(name)] = this.#kernels.contiguous(gradients[index]);
        gradients[index].drop();
      }
    }
    end();
    return outputs;
  }

  /** @param copies Whether the tensor, or a view of it, may outlive the numbers. */
  #take({ data, dims }: Numbers, copies: boolean): TorchTensor {
    const shared = this.#kernels.share(data, dims);
    if (!copies) return shared;
    const copy = this.#kernels.clone(shared);
    shared.drop();
    return copy;
  }

  #forgetSince(count: number): void {
    this.#narrowed.clear();
    const owners = new Map<TorchTensor, number>();
    for (const [id, each] of this.#kept) {
      if (id > count) this.#kept.delete(id);
      else owners.set(each, (owners.get(each) ?? 0) + 1);
    }
    for (const each of [...TorchTensor.living]) each.leaveTo(owners.get(each) ?? 0);
  }

  /** Drops the copy in the precision of products. */
  #forget(value: TorchTensor): void {
    this.#narrowed.get(value)?.drop();
    this.#narrowed.delete(value);
  }

  #tensorOf(kept: Kept['kept']): TorchTensor {
    const found = this.#kept.get(kept);
    if (!found) throw new RangeError('The tensor is disposed.');
    return found;
  }

  #give(found: TorchTensor, stays: boolean): Numbers | Kept {
    if (stays) return this.#keep(found);
    const numbers = { data: this.#read(found), dims: found.shape };
    found.drop();
    return numbers;
  }

  #read(value: TorchTensor): Numbers['data'] {
    if (value.type !== 'bfloat16') return this.#kernels.read(value);
    const wide = this.#kernels.cast(value, 'float32');
    const data = this.#kernels.read(wide);
    wide.drop();
    return data;
  }

  #keep(value: TorchTensor): Kept {
    this.#count += 1;
    this.#kept.set(this.#count, value);
    return { kept: this.#count, dims: value.shape };
  }
}

function prepared(request: CompileRequest): Compiled {
  const program = new PreparedProgram(request.program);
  const inputs = [...new Set([...program.inputs, ...(request.gradients?.to ?? [])])];
  const samples = request.program.nodes.some(({ operation }) => operation === 'pooledAttention');
  return { request, program, inputs, stays: new Set(request.stays), samples };
}
