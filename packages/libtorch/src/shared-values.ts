/** SharedValues: what several operations of a run use, computed once: constants, angles, the softmax of logits, and rounded operands. */
import type { Kernels } from './kernels.ts';
import type { TorchTensor } from './torch-tensor.ts';

export type Precision = 'float32' | 'bfloat16';

export class SharedValues {
  readonly #kernels: Kernels;
  readonly #precision: Precision;
  readonly #constants: Map<string, TorchTensor> = new Map();
  /** By rotary table of cosines, at the positions, of which a program has one input. */
  readonly #angles: Map<TorchTensor, readonly [cosines: TorchTensor, sines: TorchTensor]> = new Map();
  /** The log softmax and softmax of the logits that were read last. */
  #logs: { logits: TorchTensor; logs: TorchTensor; probabilities?: TorchTensor } | undefined;
  readonly #narrowed: Map<TorchTensor, TorchTensor>;
  /** The operand other than an input that was rounded last. */
  #lastNarrowed: { x: TorchTensor; narrow: TorchTensor } | undefined;

  /** @param narrowed Has, and gets, copies of inputs in the precision of products. Its owner drops them. */
  constructor(kernels: Kernels, precision: Precision, narrowed: Map<TorchTensor, TorchTensor>) {
    this.#kernels = kernels;
    this.#precision = precision;
    this.#narrowed = narrowed;
  }

  constant(value: number, shape: readonly number[] = []): TorchTensor {
    const key = `${value} [${shape}]`;
    const known = this.#constants.get(key);
    if (known) return known;
    const made = this.#kernels.outside(() => this.#kernels.full(shape, value));
    this.#constants.set(key, made);
    return made;
  }

  /** [B, 1, T, D], for all heads and layers: cosines twice, and sines with the sign of the half that they are added to. */
  anglesAt(
    cos: TorchTensor,
    sin: TorchTensor,
    positions: TorchTensor,
  ): readonly [cosines: TorchTensor, sines: TorchTensor] {
    const known = this.#angles.get(cos);
    if (known) return known;
    const k = this.#kernels;
    const [batch, time] = positions.shape as [number, number];
    const angles = k.outside(() =>
      k.tidy(() => {
        const [cosines, sines] = [cos, sin].map((table) =>
          k.reshape(k.embedding(table, positions), [batch, 1, time, table.shape[1]!]),
        ) as [TorchTensor, TorchTensor];
        return [k.cat([cosines, cosines], 3), k.cat([k.unary('neg', sines), sines], 3)] as const;
      }),
    );
    this.#angles.set(cos, angles);
    return angles;
  }

  /** For log-probabilities and entropies of the same logits. */
  logSoftmax(logits: TorchTensor): TorchTensor {
    if (this.#logs?.logits !== logits) {
      this.forgetLogits();
      const logs = this.#kernels.outside(() =>
        this.#kernels.tidy(() => this.#kernels.logSoftmax(this.wide(logits))),
      );
      this.#logs = { logits, logs };
    }
    return this.#logs.logs;
  }

  /** exp(logs). Within `tidy`, which frees it unless it is shared. */
  probabilities(logs: TorchTensor): TorchTensor {
    if (this.#logs?.logs !== logs) return this.#kernels.unary('exp', logs);
    this.#logs.probabilities ??= this.#kernels.outside(() => this.#kernels.unary('exp', logs));
    return this.#logs.probabilities;
  }

  forgetLogits(): void {
    this.#logs?.logs.drop();
    this.#logs?.probabilities?.drop();
    this.#logs = undefined;
  }

  /** In the precision of products. The caller owns the result. */
  narrow(x: TorchTensor, isInput: boolean): TorchTensor {
    if (x.type === this.#precision) return x.keep();
    const known =
      this.#narrowed.get(x) ?? (this.#lastNarrowed?.x === x ? this.#lastNarrowed.narrow : undefined);
    if (known) return known.keep();
    const narrow = this.#kernels.outside(() => this.#kernels.cast(x, this.#precision));
    if (isInput) this.#narrowed.set(x, narrow);
    else {
      this.#lastNarrowed?.narrow.drop();
      this.#lastNarrowed = { x, narrow };
    }
    return narrow.keep();
  }

  /** In the precision of products. Within `tidy`, which frees a copy. */
  inPrecision(x: TorchTensor): TorchTensor {
    return x.type === this.#precision ? x : this.#kernels.cast(x, this.#precision);
  }

  /** In float32. Within `tidy`, which frees a copy. */
  wide(x: TorchTensor): TorchTensor {
    return x.type === 'bfloat16' ? this.#kernels.cast(x, 'float32') : x;
  }

  close(): void {
    this.forgetLogits();
    this.#lastNarrowed?.narrow.drop();
    this.#lastNarrowed = undefined;
    for (const each of [...this.#angles.values(), ...this.#constants.values()].flat()) each.drop();
    this.#angles.clear();
    this.#constants.clear();
  }
}
