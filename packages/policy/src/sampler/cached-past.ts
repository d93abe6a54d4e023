/** How cached keys and values are given to the sampling program. */
import type { ModelConfig } from '../model/model-config.ts';
import { type Runtime, type Tensor, tensor } from '../runtime/runtime.ts';

/** Positions are reserved in steps of this many. */
const granularity = 32;

export function roundUp(length: number): number {
  return Math.ceil(length / granularity) * granularity;
}

/** The fewest positions of a view: an empty past is masked positions for runtimes that want no empty tensors. */
export function leastPast({ refusesEmpty }: Runtime): number {
  return refusesEmpty ? granularity : 0;
}

/** What the program's inputs and outputs are of: the keys and the values of each layer. */
export function cachedParts({ num_hidden_layers: layers }: ModelConfig): string[] {
  return Array.from({ length: layers }, (_, layer) => [`${layer}.key`, `${layer}.value`]).flat();
}

/** The program's input. */
export function pastOf(part: string): string {
  return `past.${part}`;
}

/** The program's output. */
export function newOf(part: string): string {
  return `new.${part}`;
}

/** [B, 1, 1, past], for so many cached positions of each row. */
export function pastMask(lengths: readonly number[], past: number): Tensor {
  const mask = new Float32Array(lengths.length * past);
  for (const [row, length] of lengths.entries()) mask.fill(-1e9, row * past + length, (row + 1) * past);
  return tensor(mask, [lengths.length, 1, 1, past]);
}
