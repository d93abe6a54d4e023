/** AdapterMerge: W + scale · B · A for each matrix W that an adapter adapts. */
import type { LowRankPairs } from '../checkpoint/adapter.ts';
import type { Model } from '../model/model.ts';
import type { Ops } from '../runtime/ops.ts';
import { Programs } from '../runtime/programs.ts';
import { disposeTensors, tensorsExcept } from '../runtime/resident-tensor.ts';
import type { Executable, Runtime, Tensors } from '../runtime/runtime.ts';

export class AdapterMerge {
  readonly #runtime: Runtime;
  readonly #programs: Programs = new Programs();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /**
   * The weights of the whole model with the adapter merged in. Matrices without an adapter are the same tensors as in `base`.
   * @param before Earlier merged weights. Each is overwritten, or disposed, as soon as its successor is computed.
   */
  async merge(base: Tensors, pairs: LowRankPairs, before: Tensors = {}): Promise<Tensors> {
    const merged = { ...base };
    for (const [name, { a, b, scale }] of Object.entries(pairs)) {
      const old = before[name];
      const program = await this.#program(scale);
      const outputs = await program.run(
        { weight: base[name]!, a, b },
        old && !old.dispose ? { merged: old } : {},
      );
      old?.dispose?.();
      merged[name] = outputs.merged!;
    }
    return merged;
  }

  close(): Promise<void> {
    return this.#programs.closeAll();
  }

  /** For a matrix of any size and rank. */
  #program(scale: number): Promise<Executable> {
    const merged = <T>(ops: Ops<T>) => {
      const a = ops.input('a', 'float32', ['rank', 'in']);
      const product = ops.matmul(ops.input('b', 'float32', ['out', 'rank']), a, { scale, exact: true });
      return { merged: ops.add(ops.input('weight', 'float32', ['out', 'in']), product) };
    };
    return this.#programs.get(`times ${scale}`, () => this.#runtime.compile(merged, { stays: () => true }));
  }
}

/** Replaces a model's weights by those with the adapters, one after the other. */
export async function mergeAdapters(
  runtime: Runtime,
  model: Model,
  adapters: readonly LowRankPairs[] = [],
): Promise<void> {
  const merging = new AdapterMerge(runtime);
  for (const pairs of adapters) {
    const before = model.weights;
    model.weights = await merging.merge(before, pairs);
    disposeTensors(tensorsExcept(before, model.weights));
  }
  await merging.close();
}
