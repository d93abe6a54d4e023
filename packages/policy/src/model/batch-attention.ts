/** Attention within a padded batch, for layers with and without a window. */
import { getOrInsert } from '../runtime/get-or-insert.ts';
import type { Ops } from '../runtime/ops.ts';
import { architectureOf } from './architecture.ts';
import { type Attention, selfAttention } from './decoder.ts';
import type { ModelConfig } from './model-config.ts';

/** Attention with the inputs `mask` and, for layers with a window, `window.mask`: [T, T] or, with branches, [B, 1, T, T]. */
export function batchAttention<T>(
  ops: Ops<T>,
  config: ModelConfig,
  { blocks, branches }: { blocks: number; branches: boolean },
): Attention<T> {
  const { layer: kindOf } = architectureOf(config);
  const byMask = new Map<string, Attention<T>>();
  return (layer, ...given) => {
    const name = kindOf(layer).windowed ? 'window.mask' : 'mask';
    const make = () => {
      const mask = ops.input(name, 'float32', branches ? ['B', 1, 'T', 'T'] : ['T', 'T']);
      return selfAttention(ops, config, mask, blocks);
    };
    return getOrInsert(byMask, name, make)(layer, ...given);
  };
}
