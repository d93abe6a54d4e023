/** Tensors in a device's memory, and functions that copy, read and dispose tensors in either memory. */
import type { Runtime, Tensor, Tensors } from './runtime.ts';

/** `Handle` is a tensor of the computing library. */
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

  /** Further calls do nothing. */
  dispose(): void {
    if (!this.#isDisposed) this.handle.dispose();
    this.#isDisposed = true;
  }
}

/** Copies the tensors into the device's memory, if there is one. */
export async function placeTensors({ memory }: Runtime, tensors: Tensors): Promise<Tensors> {
  return memory ? mapTensors(tensors, (value) => memory.copy(value)) : tensors;
}

/** Copies that do not change when the tensors are overwritten or disposed. */
export async function copyTensors({ memory }: Runtime, tensors: Tensors): Promise<Tensors> {
  const copy = async ({ data, dims }: Tensor) => ({ data: data.slice(), dims });
  return mapTensors(tensors, memory ? (value) => memory.copy(value) : copy);
}

/** Copies the tensors into this process's memory. */
export async function readTensorData({ memory }: Runtime, tensors: Tensors): Promise<Tensors> {
  return memory ? mapTensors(tensors, (value) => memory.read(value)) : tensors;
}

/** The tensors that are not among `others`. */
export function tensorsExcept(tensors: Tensors, others: Tensors): Tensors {
  const known = new Set(Object.values(others));
  return Object.fromEntries(Object.entries(tensors).filter(([, value]) => !known.has(value)));
}

export function disposeTensors(tensors: Tensors): void {
  for (const value of Object.values(tensors)) value.dispose?.();
}

/** One tensor after another, because some are large. */
async function mapTensors(tensors: Tensors, map: (value: Tensor) => Promise<Tensor>): Promise<Tensors> {
  const mapped: Tensors = {};
  for (const [name, value] of Object.entries(tensors)) mapped[name] = await map(value);
  return mapped;
}
