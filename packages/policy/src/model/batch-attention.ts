/** Attention within a padded batch, for layers with and without a window. */
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
  const masked = (name: string) => {
    const mask = ops.input(name, 'float32', branches ? ['B', 1, 'T', 'T'] : ['T', 'T']);
    return selfAttention(ops, config, mask, blocks);
  };
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => kindOf(layer));
  const whole = layers.some(({ windowed }) => !windowed) ? masked('mask') : undefined;
  const windowed = layers.some(({ windowed }) => windowed) ? masked('window.mask') : undefined;
  return (layer, ...given) => (kindOf(layer).windowed ? windowed : whole)!(layer, ...given);
}
