/** Tensors of libtorch, and who frees them. */
import type { TorchLibrary, TorchType } from './torch-library.ts';

/** A tensor is freed once each of its owners has dropped it. Whoever makes it owns it. */
export class TorchTensor {
  /** Tensors of this process that are not freed yet. */
  static readonly living: Set<TorchTensor> = new Set();
  readonly handle: bigint;
  readonly shape: readonly number[];
  readonly type: TorchType;
  readonly #library: TorchLibrary;
  #owners = 1;

  constructor(library: TorchLibrary, handle: bigint, shape: readonly number[], type: TorchType = 'float32') {
    this.#library = library;
    this.handle = handle;
    this.shape = shape;
    this.type = type;
    TorchTensor.living.add(this);
  }

  /** Another owner. */
  keep(): this {
    if (this.#owners === 0) throw new RangeError('The tensor is freed already.');
    this.#owners += 1;
    return this;
  }

  drop(): void {
    this.#owners -= 1;
    if (this.#owners > 0) return;
    if (this.#owners < 0) throw new RangeError('A tensor was dropped more often than it was kept.');
    this.#free();
  }

  /** Leaves so many owners: after an error, others will never drop the tensor. */
  leaveTo(owners: number): void {
    this.#owners = owners;
    if (owners === 0) this.#free();
  }

  #free(): void {
    if (TorchTensor.living.delete(this)) this.#library.delete(this.handle);
  }
}

/** The tensors that a computation has made so far, so that it can free those that it does not return. */
export class TensorScope {
  #made: TorchTensor[] | undefined;

  /** Notes a new tensor. */
  note(made: TorchTensor): TorchTensor {
    this.#made?.push(made);
    return made;
  }

  /** The caller owns what `make` makes, in whichever scope it is. */
  outside<Made>(make: () => Made): Made {
    const outer = this.#made;
    this.#made = undefined;
    try {
      return make();
    } finally {
      this.#made = outer;
    }
  }

  /** Frees what `compute` makes and does not return. The caller, or the scope around this one, owns what it returns. */
  tidy<Made extends TorchTensor | readonly (TorchTensor | undefined)[]>(compute: () => Made): Made {
    const outer = this.#made;
    const made: TorchTensor[] = [];
    this.#made = made;
    let returned = new Set<TorchTensor | undefined>();
    try {
      const result = compute();
      returned = new Set(result instanceof TorchTensor ? [result] : result);
      return result;
    } finally {
      this.#made = outer;
      for (const each of made) {
        if (returned.has(each)) outer?.push(each);
        else each.drop();
      }
    }
  }
}
