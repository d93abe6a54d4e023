/** Estimates the memory that training a model needs, before it begins. */
import type { MemoryEstimate } from '@toolenv/core/plugins';
import { parameterShapes } from '../model/decoder.ts';
import { parameterCount, totalSize } from '../model/model.ts';
import { headWidth, type ModelConfig } from '../model/model-config.ts';
import type { Shapes } from '../runtime/shape.ts';

const float = 4;
/** Bytes of activations that a default token budget always allows. */
const leastActivations = 1.5 * 2 ** 30;

interface TrainingOptions {
  tokenBudget?: number;
  gradientCheckpointing?: boolean;
  /** The trained parameters, such as an adapter's. Default: all. */
  trained?: Shapes;
}

export function trainingMemory(config: ModelConfig, options: TrainingOptions = {}): MemoryEstimate {
  const { gradientCheckpointing = false, trained = parameterShapes(config) } = options;
  const { tokenBudget = defaultTokenBudget(config, gradientCheckpointing) } = options;
  const trainedBytes = float * totalSize(trained);
  const modelBytes = float * parameterCount(config);
  const parts = {
    weights: (trainedBytes < modelBytes ? 3 : 2) * modelBytes,
    gradients: 2 * trainedBytes,
    optimizer: 2 * trainedBytes,
    activations: tokenBudget * activationBytes(config, gradientCheckpointing),
  };
  const total = Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
  const keyValueWidth = headWidth(config) * config.num_key_value_heads;
  return { ...parts, total, cachePerToken: 2 * float * config.num_hidden_layers * keyValueWidth };
}

/**
 * The default number of padded tokens in a batch, at most 4096. Each batch has a fixed cost for the gradients of all
 * weights, so larger batches are faster. Activations may take as much memory as weights, gradients and moments
 * together, or 1.5 GiB if that is more.
 */
export function defaultTokenBudget(config: ModelConfig, gradientCheckpointing = false): number {
  const most = Math.max(leastActivations, 5 * float * parameterCount(config));
  return Math.max(1, Math.min(4096, Math.floor(most / activationBytes(config, gradientCheckpointing))));
}

/**
 * Bytes of activations for one token, forward and backward, in rows of a few hundred tokens. The factors were fitted
 * to measured peaks of models with 1, 15 and 100 million parameters; the estimates are within an eighth of each.
 */
function activationBytes(config: ModelConfig, gradientCheckpointing: boolean): number {
  const {
    num_hidden_layers: layers,
    hidden_size: width,
    intermediate_size: inner,
    num_attention_heads: heads,
  } = config;
  const rowLength = 192;
  const layer = 9 * width + 4 * inner + 0.7 * heads * rowLength;
  // With checkpointing: one layer, and the inputs of all layers.
  const trunk = gradientCheckpointing ? layer + layers * width : layers * layer;
  return float * (trunk + 4 * config.vocab_size);
}
