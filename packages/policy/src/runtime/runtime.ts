/** Runtime: compiles programs written over Ops and runs them. The seam between the model and what computes it. */
import type { Program } from './ops.ts';
import { sizeOf } from './shape.ts';

/** Row-major numbers with their dimensions. */
export interface Tensor {
  /** @throws RangeError if they are in a device's memory: `read` them first. */
  readonly data: Float32Array | Int32Array;
  readonly dims: readonly number[];
  /** Of a tensor in a device's memory: gives that memory back. */
  dispose?(): void;
}

export type Tensors = Record<string, Tensor>;

/** Asks for the gradients of the program's scalar output `of`; they come out as `gradient <input name>`. */
export interface GradientRequest {
  of: string;
  to: readonly string[];
}

export interface Executable {
  /**
   * Inputs that the program does not ask for may be left out. Those given are read in place and must not change while the
   * run lasts. Outputs are fresh, but those that `into` names are written there. Those that stay on the device are the caller's
   * to dispose.
   */
  run(inputs: Tensors, into?: Tensors): Promise<Tensors>;
  close(): Promise<void>;
}

/** What matrix products are computed in. Weights, sums and all else are float32. */
export type Precision = 'float32' | 'float16';

export interface CompileOptions {
  gradients?: GradientRequest;
  /** Inputs that a runtime may build in, to be faster. Each run is given them all the same. */
  constants?: Tensors;
  /** Which outputs stay in the device's memory, where the runtime has one. Default: none. */
  stays?(output: string): boolean;
}

/** A memory of what computes, where tensors stay between runs until they are disposed. */
export interface DeviceMemory {
  /** Whether numbers travel to other hardware to get there: then what changes with each token is best there, too. */
  readonly isRemote: boolean;
  /** A copy there, of a tensor here or there. */
  copy(tensor: Tensor): Promise<Tensor>;
  /** A copy here. */
  read(tensor: Tensor): Promise<Tensor>;
}

export interface Runtime {
  readonly name: string;
  /** Of the device, where outputs can stay in it. */
  readonly memory?: DeviceMemory;
  /** Whether inputs without any numbers in them must be avoided. */
  readonly refusesEmpty?: boolean;
  /** Default `float32`. */
  readonly precision?: Precision;
  /** Bytes of constants up to which to build them in makes many runs faster. Default 0. */
  readonly mostBuiltIn?: number;
  compile(program: Program, options?: CompileOptions): Promise<Executable>;
}

export function gradientOf(input: string): string {
  return `gradient ${input}`;
}

export function tensor(data: Tensor['data'], dims: readonly number[]): Tensor {
  return { data, dims };
}

export function zeros(dims: readonly number[]): Tensor {
  return tensor(new Float32Array(sizeOf(dims)), dims);
}
