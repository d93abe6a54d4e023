/** Names and shapes of the cached keys and values in the sampling program. */
import { architectureOf } from '../model/known-architectures.ts';
import type { ModelConfig } from '../model/model-config.ts';
import { type Runtime, type Tensor, tensor } from '../runtime/runtime.ts';

/** Capacities are multiples of this number of positions. */
const granularity = 32;

export function roundUp(length: number): number {
  return Math.ceil(length / granularity) * granularity;
}

/** The smallest number of positions in a view. For runtimes that refuse empty tensors, an empty past is masked positions. */
export function leastPast({ refusesEmpty }: Runtime): number {
  return refusesEmpty ? granularity : 0;
}

/** The cached parts: `<layer>.key` and `<layer>.value` for each layer that attends. */
export function cachedParts(config: ModelConfig): string[] {
  const { layer: kindOf } = architectureOf(config);
  const layers = [...Array(config.num_hidden_layers).keys()].filter((layer) => !kindOf(layer).mixer);
  return layers.flatMap((layer) => [`${layer}.key`, `${layer}.value`]);
}

/** The name of the program's input for a part. */
export function pastOf(part: string): string {
  return `past.${part}`;
}

/** The name of the program's output for a part of the new tokens. */
export function newOf(part: string): string {
  return `new.${part}`;
}

/** The name of the program's output for a part of the past with the new token. */
export function grownOf(part: string): string {
  return `grown.${part}`;
}

/** [B, 1, 1, past]: 0 at the first lengths[b] positions of row b, −1e9 after them. */
export function pastMask(lengths: readonly number[], past: number): Tensor {
  const mask = new Float32Array(lengths.length * past);
  for (const [row, length] of lengths.entries()) mask.fill(-1e9, row * past + length, (row + 1) * past);
  return tensor(mask, [lengths.length, 1, 1, past]);
}

/** [B, 1, time, past]: as {@link pastMask}, for `time` new positions that attend to `window` positions, their own included. */
export function pastWindowMask(
  lengths: readonly number[],
  past: number,
  { time, window }: { time: number; window: number },
): Tensor {
  const mask = new Float32Array(lengths.length * time * past).fill(-1e9);
  for (const [row, length] of lengths.entries()) {
    for (let fresh = 0; fresh < time; fresh++) {
      const start = (row * time + fresh) * past;
      mask.fill(0, start + Math.min(length, Math.max(0, length + fresh + 1 - window)), start + length);
    }
  }
  return tensor(mask, [lengths.length, 1, time, past]);
}
