/** CachedPast: where new keys and values go in a cache, and which of its positions new tokens attend to. The layers share it. */
import { sizeOf } from '@toolenv/policy/runtime';
import type { Kernels } from './kernels.ts';
import type { TorchType } from './torch-library.ts';
import type { TorchTensor } from './torch-tensor.ts';

export class CachedPast {
  /** Whether no row has a past. */
  readonly isEmpty: boolean;
  readonly #kernels: Kernels;
  readonly #lengths: Int32Array;
  readonly #time: number;
  readonly #capacity: number;
  /** int64 [B · K · S]: the rows of the new positions in a cache [B · K · capacity, D]. */
  readonly #rows: TorchTensor;
  readonly #masks: Map<number | undefined, TorchTensor> = new Map();

  /** @param given int32 lengths [B] and room [1]; keys [B, K, S, D] and pastKeys [B, K, P, D], as those of any layer. */
  constructor(
    kernels: Kernels,
    { lengths, room, keys, pastKeys }: Record<'lengths' | 'room' | 'keys' | 'pastKeys', TorchTensor>,
  ) {
    this.#kernels = kernels;
    this.#lengths = kernels.read(lengths) as Int32Array;
    this.isEmpty = this.#lengths.every((length) => length === 0);
    const [batch, heads, time] = keys.shape as [number, number, number, number];
    this.#time = time;
    this.#capacity = Math.max(pastKeys.shape[2]!, kernels.read(room)[0]!);
    const rows = new Int32Array(batch * heads * time);
    for (let head = 0; head < batch * heads; head++) {
      const start = head * this.#capacity + this.#lengths[Math.floor(head / heads)]!;
      for (let s = 0; s < time; s++) rows[head * time + s] = start + s;
    }
    [this.#rows] = kernels.tidy(() => [kernels.cast(kernels.of(rows, [rows.length]), 'int64')] as const);
  }

  /**
   * The past [B, K, capacity, D] with new keys or values [B, K, S, D], in their precision, and in the past's memory if that is large enough.
   * The caller owns it.
   */
  grow(past: TorchTensor, fresh: TorchTensor): TorchTensor {
    const k = this.#kernels;
    const [batch, heads, before, width] = past.shape as [number, number, number, number];
    const isReady = before === this.#capacity && past.type === fresh.type;
    const grown = isReady ? past.keep() : this.#enlarged(past, fresh.type);
    const flat = k.reshape(grown, [batch * heads * this.#capacity, width]);
    k.copyRows(flat, this.#rows, k.reshape(fresh, [sizeOf(fresh.shape) / width, width]));
    return grown;
  }

  /** [B, 1, S, capacity]: 0 at the positions that a new token attends to, at most `window` of them, and −∞ at the others. */
  mask(window?: number): TorchTensor {
    const known = this.#masks.get(window);
    if (known) return known;
    const [batch, capacity, time] = [this.#lengths.length, this.#capacity, this.#time];
    const mask = new Float32Array(batch * time * capacity).fill(Number.NEGATIVE_INFINITY);
    for (const [row, length] of this.#lengths.entries()) {
      for (let s = 0; s < time; s++) {
        const [start, end] = [(row * time + s) * capacity, length + s + 1];
        mask.fill(0, start + Math.max(0, end - (window ?? end)), start + end);
      }
    }
    const made = this.#kernels.outside(() => this.#kernels.of(mask, [batch, 1, time, capacity]));
    this.#masks.set(window, made);
    return made;
  }

  close(): void {
    this.#rows.drop();
    for (const mask of this.#masks.values()) mask.drop();
  }

  /** Zeros follow, because a mask does not hide NaN. */
  #enlarged(past: TorchTensor, type: TorchType): TorchTensor {
    const k = this.#kernels;
    const grown = k.full(past.shape.with(2, this.#capacity), 0, type);
    if (past.shape[2]! > 0) k.copy(k.narrow(grown, 2, 0, past.shape[2]!), past);
    return grown;
  }
}
