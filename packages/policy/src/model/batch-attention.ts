/** Attention within a padded batch, for layers with and without a window. */

import { getOrInsert } from '../runtime/get-or-insert.ts';
import type { Ops } from '../runtime/ops.ts';
import { type Tensors, tensor } from '../runtime/runtime.ts';
import { architectureOf } from './architecture.ts';
import { causalMask } from './causal-mask.ts';
import { type Attention, selfAttention } from './decoder.ts';
import type { ModelConfig } from './model-config.ts';

/** Attention with the masks that {@link batchMasks} makes. */
export function batchAttention<T>(ops: Ops<T>, config: ModelConfig): Attention<T> {
  const { layer: kindOf } = architectureOf(config);
  const byMask = new Map<string, Attention<T>>();
  return (layer, ...given) => {
    const name = kindOf(layer).windowed ? 'window.mask' : 'mask';
    const make = () => selfAttention(ops, config, ops.input(name, 'float32', ['T', 'T']));
    return getOrInsert(byMask, name, make)(layer, ...given);
  };
}

/** The masks [T, T] of a batch of `time` positions: `mask`, and `window.mask` if layers have a window. */
export function batchMasks(time: number, window: number | undefined): Tensors {
  const dims = [time, time];
  return {
    mask: tensor(causalMask(time), dims),
    ...(window !== undefined && { 'window.mask': tensor(causalMask(time, window), dims) }),
  };
}
