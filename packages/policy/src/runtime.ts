/** Runtime: compiles programs written over Ops and runs them. The seam between the model and what computes it. */
import type { Program } from './ops.ts';

/** Row-major numbers with their dimensions. What is given to several runs stays the same: a runtime may keep a copy. */
export interface Tensor {
  readonly data: Float32Array | Int32Array;
  readonly dims: readonly number[];
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
   * run lasts. Outputs are fresh, but those that `into` names are written there.
   */
  run(inputs: Tensors, into?: Tensors): Promise<Tensors>;
  close(): Promise<void>;
}

/** What matrix products are computed in. Weights, sums and all else are float32. */
export type Precision = 'float32' | 'float16';

export interface Runtime {
  readonly name: string;
  /** Whether inputs without any numbers in them must be avoided. */
  readonly refusesEmpty?: boolean;
  /** Default `float32`. */
  readonly precision?: Precision;
  /** @param constants Inputs that a runtime may build in, to be faster. Each run is given them all the same. */
  compile(program: Program, gradients?: GradientRequest, constants?: Tensors): Promise<Executable>;
}

export function gradientOf(input: string): string {
  return `gradient ${input}`;
}

export function copyOf({ data, dims }: Tensor): Tensor {
  return { data: data.slice(), dims };
}

export function tensor(data: Tensor['data'], dims: readonly number[]): Tensor {
  return { data, dims };
}
