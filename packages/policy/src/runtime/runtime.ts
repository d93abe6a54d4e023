/** Runtime: compiles programs that are written over Ops, and runs them. It separates the model from the library that computes. */
import type { Program } from './ops.ts';
import { sizeOf } from './shape.ts';

/** Row-major numbers with their dimensions. */
export interface Tensor {
  /** @throws RangeError if the numbers are in a device's memory: `read` the tensor first. */
  readonly data: Float32Array | Int32Array;
  readonly dims: readonly number[];
  /** Frees a tensor in a device's memory. */
  dispose?(): void;
}

export type Tensors = Record<string, Tensor>;

/** Requests the gradients of the program's scalar output `of`; they are outputs named `gradient <input name>`. */
export interface GradientRequest {
  of: string;
  to: readonly string[];
}

export interface Executable {
  /**
   * Inputs that the program does not use may be left out. Inputs are read in place and must not change during the run. Outputs
   * named in `into` are written there; the program allocates the rest. The caller disposes outputs that stay on the device.
   */
  run(inputs: Tensors, into?: Tensors): Promise<Tensors>;
  close(): Promise<void>;
}

/** The precision of matrix products. Weights, sums and everything else are float32. */
export type Precision = 'float32' | 'float16';

export interface CompileOptions {
  gradients?: GradientRequest;
  /** Inputs that a runtime may build into the program for speed. Each run still receives them. */
  constants?: Tensors;
  /** The precision of constant weights in `linear`, if the runtime `hasInt8`. Default: the precision in which they are given. */
  constantPrecision?: 'int8';
  /** Weights of `linear` that each run receives in the layout that `Ops.layOut` gives. Nothing else may use them. Default: none. */
  laidOut?(input: string): boolean;
  /** Whether each run has few rows: from 2 to the runtime's `fewRows`. Default: no. */
  fewRows?: boolean;
  /** Outputs that stay in the device's memory, if the runtime has such memory. Default: none. */
  stays?(output: string): boolean;
}

/** The memory of a device, where tensors stay between runs until they are disposed. */
export interface DeviceMemory {
  /** Whether copies cross to other hardware. Then tensors that change with each token should stay there, too. */
  readonly isRemote: boolean;
  /** Copies a tensor into the device's memory, from either memory. */
  copy(tensor: Tensor): Promise<Tensor>;
  /** Copies a tensor into this process's memory. */
  read(tensor: Tensor): Promise<Tensor>;
}

/** What AdamW is told of one step. */
export interface AdamWUpdate {
  learningRate: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  weightDecay: number;
  /** Counted from 1. */
  step: number;
  /** What gradients are multiplied by first. */
  clip: number;
}

/** Arithmetic over many tensors of the device's memory at once. */
export interface DeviceOptimizer {
  /** sums + share · gradients, in new tensors that take the place of both. */
  accumulate(
    sums: readonly Tensor[] | undefined,
    gradients: readonly Tensor[],
    share: number,
  ): Promise<Tensor[]>;
  /** The Euclidean norm of all numbers. */
  norm(tensors: readonly Tensor[]): Promise<number>;
  /** Updates weights and moments in place. The lists are in one order. */
  adamw(
    lists: Record<'weights' | 'gradients' | 'means' | 'variances', readonly Tensor[]>,
    update: AdamWUpdate,
  ): Promise<void>;
}

export interface Runtime {
  readonly name: string;
  /** The device's memory, if outputs can stay there. */
  readonly memory?: DeviceMemory;
  /** An optimizer for tensors in the device's memory that is faster than a program. */
  readonly optimizer?: DeviceOptimizer;
  /** Whether empty inputs must be avoided. */
  readonly refusesEmpty?: boolean;
  /** Default `float32`. */
  readonly precision?: Precision | 'bfloat16';
  /** Building constants into a program makes many runs faster up to this size in bytes. Default 0. */
  readonly mostBuiltIn?: number;
  /** Up to so many rows, `linear` is faster in a program that is compiled for few rows, if its weights are inputs. Default 1. */
  readonly fewRows?: number;
  /** Whether `linear` is faster with weights that are laid out for it, in a copy. */
  readonly laysOut?: boolean;
  /** Whether constant weights can have 8 bits. */
  readonly hasInt8?: boolean;
  /** The fixed cost of one run of a learner's program, expressed in tokens. Default 128. */
  readonly tokensPerRun?: number;
  /** ONNX Runtime samples models with fewer parameters faster, from copies of the weights in this process's memory. Default 0. */
  readonly minSampled?: number;
  /** Whether programs may write to a cache that they are given, with `Ops.pooledAttention`. */
  readonly hasPools?: boolean;
  /** Whether launching an operation costs more than the work that several small operations would save. */
  readonly prefersFewOperations?: boolean;
  compile(program: Program, options?: CompileOptions): Promise<Executable>;
  /** Frees what the runtime holds. Nothing may use it afterwards. */
  close?(): Promise<void>;
}

export function gradientOf(input: string): string {
  return `gradient ${input}`;
}

/** The bytes of numbers, without a copy. */
export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

export function tensor(data: Tensor['data'], dims: readonly number[]): Tensor {
  return { data, dims };
}

export function zeros(dims: readonly number[]): Tensor {
  return tensor(new Float32Array(sizeOf(dims)), dims);
}
