/** Inputs that come again, as the weights do at every token, stay on the backend. */
import type { Tensor as TfTensor } from '@tensorflow/tfjs';
import type { Tensor } from '../runtime.ts';
import type { Tfjs } from './load-tfjs.ts';

/** One tensor at most for each name: the one last given, from the second time on. */
export class ResidentInputs {
  readonly #tf: Tfjs;
  readonly #last: Map<string, { source: WeakRef<Tensor>; resident?: TfTensor }> = new Map();

  constructor(tf: Tfjs) {
    this.#tf = tf;
  }

  /** To be called within `tidy`, which disposes what does not stay. */
  get(name: string, source: Tensor): TfTensor {
    const last = this.#last.get(name);
    const again = last?.source.deref() === source;
    if (again && last.resident) return last.resident;
    const { data, dims } = source;
    const type = data instanceof Float32Array ? 'float32' : 'int32';
    const value = this.#tf.tensor(data, [...dims], type);
    if (again) {
      last.resident = this.#tf.keep(value);
    } else {
      last?.resident?.dispose();
      this.#last.set(name, { source: new WeakRef(source) });
    }
    return value;
  }

  clear(): void {
    for (const { resident } of this.#last.values()) resident?.dispose();
    this.#last.clear();
  }
}
