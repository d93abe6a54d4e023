/** How the cost of attention compares with that of everything else in a layer. */
import { parameterShapes } from '../model/decoder.ts';
import { headWidth, type ModelConfig } from '../model/model-config.ts';
import { sizeOf } from '../runtime/shape.ts';

/**
 * The length at which a row's attention takes as long as the rest of its layers: 1,200 tokens for the tiny policy, 4,600 for the shape
 * of Qwen2.5-0.5B. A token takes two operations for each weight of a layer, and four for each number of its queries and each token that
 * it is compared with. That is five eighths of the row's tokens. On CPUs, times follow these counts.
 */
export function attentionLength(config: ModelConfig): number {
  const ofLayer = [...parameterShapes(config)].filter(([name]) => name.startsWith('model.layers.0.'));
  const weights = ofLayer.reduce((sum, [, shape]) => sum + sizeOf(shape), 0);
  return (2 * weights) / (4 * config.num_attention_heads * headWidth(config) * (5 / 8));
}
