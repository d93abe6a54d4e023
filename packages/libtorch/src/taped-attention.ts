/** TapedAttention: attention with its gradients, and attention to a pool, with what the layers of a program share. */
import type { PooledAttention } from '@toolenv/policy/runtime';
import type { GradientTape } from './gradient-tape.ts';
import type { AttentionInputs, Kernels } from './kernels.ts';
import { PooledPast } from './pooled-past.ts';
import type { SharedValues } from './shared-values.ts';
import { TorchTensor } from './torch-tensor.ts';
import { type Trees, treeAttention, treeAttentionGradients, treesOf } from './tree-attention.ts';

export class TapedAttention {
  readonly #kernels: Kernels;
  readonly #tape: GradientTape;
  readonly #shared: SharedValues;
  #past: PooledPast | undefined;
  /** By their ends. */
  readonly #trees: Map<TorchTensor, Trees> = new Map();

  constructor(kernels: Kernels, tape: GradientTape, shared: SharedValues) {
    this.#kernels = kernels;
    this.#tape = tape;
    this.#shared = shared;
  }

  /** @param narrow Gives what is multiplied, in the precision of products. */
  attend(
    inputs: AttentionInputs,
    mask: TorchTensor | 'causal' | { ends: TorchTensor },
    scale: number,
    narrow: (x: TorchTensor) => TorchTensor,
  ): TorchTensor {
    const k = this.#kernels;
    const given = mask instanceof TorchTensor || mask === 'causal' ? mask : this.#treesOf(mask.ends);
    const operands = inputs.map(narrow) as unknown as AttentionInputs;
    const isTree = given !== 'causal' && !(given instanceof TorchTensor);
    const [y, logs] = isTree ? treeAttention(k, operands, given, scale) : k.attention(operands, given, scale);
    const saved = [...operands, y, logs, ...(given instanceof TorchTensor ? [given] : [])];
    this.#tape.record(inputs, [y], saved, ([g]) => {
      // On CPUs with AMX, the gradients take half the time in float32. The outputs take a third of the time in bfloat16.
      const wide = operands.map((x) => this.#shared.wide(x)) as unknown as AttentionInputs;
      const outputs = [this.#shared.wide(y), logs] as const;
      const down = this.#shared.wide(g!);
      return isTree
        ? treeAttentionGradients(k, down, wide, outputs, given, scale)
        : k.attentionGradients(down, wide, outputs, given, scale);
    });
    for (const each of [...operands, logs]) each.drop();
    return y;
  }

  attendToPool(
    { queries, keys, values, pooledKeys, pooledValues, window, ...given }: PooledAttention<TorchTensor>,
    scale: number,
  ): [mixed: TorchTensor, keys: TorchTensor, values: TorchTensor] {
    const k = this.#kernels;
    const time = queries.shape[2]!;
    this.#past ??= new PooledPast(k, { ...given, keys }, pooledKeys.shape);
    const past = this.#past;
    const isCausal = past.isEmpty && (window === undefined || window >= time);
    return k.tidy(() => {
      // Without gradients, attention is fast in the precision of products too, and the pool is half as large.
      const fresh = [queries, keys, values].map((x) => this.#shared.inPrecision(x));
      const [asked, newKeys, newValues] = fresh as [TorchTensor, TorchTensor, TorchTensor];
      const grown = [past.write(pooledKeys, newKeys), past.write(pooledValues, newValues)] as const;
      const mixed = isCausal
        ? k.attention([asked, newKeys, newValues], 'causal', scale)[0]
        : past.attend(asked, grown, scale, window);
      return [mixed, ...grown];
    }) as [TorchTensor, TorchTensor, TorchTensor];
  }

  /** Frees what the layers shared. */
  close(): void {
    this.#past?.close();
    this.#past = undefined;
    for (const each of this.#trees.values()) if (each instanceof TorchTensor) each.drop();
    this.#trees.clear();
  }

  #treesOf(ends: TorchTensor): Trees {
    const trees = this.#trees.get(ends) ?? treesOf(this.#kernels, ends);
    this.#trees.set(ends, trees);
    return trees;
  }
}
