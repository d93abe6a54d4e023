/** Tensors in a device's memory, and how those of either memory are copied, read and disposed. */
import type { Runtime, Tensor, Tensors } from './runtime.ts';

/** `Handle` is the tensor of the library that computes. */
export class ResidentTensor<Handle extends { dispose(): void }> implements Tensor {
  readonly handle: Handle;
  readonly dims: readonly number[];
  #isDisposed = false;

  constructor(handle: Handle, dims: readonly number[]) {
    this.handle = handle;
    this.dims = dims;
  }

  get data(): never {
    throw new RangeError("The tensor is in a device's memory: read it first.");
  }

  /** May be called again. */
  dispose(): void {
    if (!this.#isDisposed) this.handle.dispose();
    this.#isDisposed = true;
  }
}

/** The tensors, in the device's memory if there is one. */
export async function placeTensors({ memory }: Runtime, tensors: Tensors): Promise<Tensors> {
  return memory ? mapTensors(tensors, (value) => memory.copy(value)) : tensors;
}

/** Copies that stay as they are when the tensors are written over or disposed. */
export async function copyTensors({ memory }: Runtime, tensors: Tensors): Promise<Tensors> {
  const copy = async ({ data, dims }: Tensor) => ({ data: data.slice(), dims });
  return mapTensors(tensors, memory ? (value) => memory.copy(value) : copy);
}

/** The tensors in this process's memory. */
export async function readTensorData({ memory }: Runtime, tensors: Tensors): Promise<Tensors> {
  return memory ? mapTensors(tensors, (value) => memory.read(value)) : tensors;
}

/** Those that are not among `others`. */
export function tensorsExcept(tensors: Tensors, others: Tensors): Tensors {
  const known = new Set(Object.values(others));
  return Object.fromEntries(Object.entries(tensors).filter(([, value]) => !known.has(value)));
}

export function disposeTensors(tensors: Tensors): void {
  for (const value of Object.values(tensors)) value.dispose?.();
}

/** One after the other: some are large. */
async function mapTensors(tensors: Tensors, map: (value: Tensor) => Promise<Tensor>): Promise<Tensors> {
  const mapped: Tensors = {};
  for (const [name, value] of Object.entries(tensors)) mapped[name] = await map(value);
  return mapped;
}
