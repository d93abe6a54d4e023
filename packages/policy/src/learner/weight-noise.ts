/** Noise on weights, for evolution strategies. */
import { deriveSeed } from '@toolenv/core';
import type { Noise } from '@toolenv/core/learner';
import type { Runtime, Tensors } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';

/**
 * The tensors with the sum of the noise on those that `shapes` names. One tensor after another, because some are large.
 * @param into Tensors of an earlier call. In this process's memory they are overwritten, on a device disposed.
 */
export async function addNoise(
  { memory }: Pick<Runtime, 'memory'>,
  tensors: Tensors,
  shapes: Shapes,
  noise: readonly Noise[],
  into: Tensors = {},
): Promise<Tensors> {
  const noisy = { ...tensors };
  for (const name of shapes.keys()) {
    const { data, dims } = memory ? await memory.read(tensors[name]!) : tensors[name]!;
    const sum = !memory && into[name] ? (into[name].data as Float32Array) : new Float32Array(data.length);
    if (sum !== data) sum.set(data as Float32Array);
    for (const { seed, scale } of noise) addSigns(sum, scale, deriveSeed(seed, name));
    noisy[name] = memory ? await memory.copy({ data: sum, dims }) : { data: sum, dims };
    if (memory) into[name]?.dispose?.();
  }
  return noisy;
}

/**
 * Adds ±scale to each number. Signs have the mean and the variance of normal noise, need no functions that differ between machines, and
 * 32 of them come from one hash (Spall, 1992, perturbs with signs).
 */
function addSigns(data: Float32Array, scale: number, seed: number): void {
  const second = deriveSeed(seed, 'second');
  for (let start = 0, word = 0; start < data.length; start += 32, word++) {
    let bits = mix(mix(word ^ seed) + second);
    const end = Math.min(start + 32, data.length);
    for (let i = start; i < end; i++, bits >>>= 1) data[i]! += bits & 1 ? scale : -scale;
  }
}

/** MurmurHash3's finalizer. */
function mix(hash: number): number {
  let h = hash | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
