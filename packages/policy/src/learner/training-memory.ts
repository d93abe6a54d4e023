/** What training a model holds in memory, estimated before it begins. */
import { parameterShapes } from '../model/decoder.ts';
import { parameterCount } from '../model/model.ts';
import { headWidth, type ModelConfig } from '../model/model-config.ts';
import { type Shapes, sizeOf } from '../runtime/shape.ts';

/** Bytes. */
export interface TrainingMemory {
  /** As they are and as the reference keeps them; with an adapter as they were, and with it merged into them before and after a step. */
  weights: number;
  /** Those that wait and those that a backward pass has just given. */
  gradients: number;
  /** AdamW's two moments. */
  optimizer: number;
  /** Of one batch of `tokenBudget` tokens. */
  activations: number;
  total: number;
  /** The sampler's keys and values, not in `total`: how many tokens episodes hold depends on the run. */
  cachePerToken: number;
}

const float = 4;
/** Bytes of activations that are always allowed. */
const leastActivations = 1.5 * 2 ** 30;

export interface TrainingOptions {
  tokenBudget?: number;
  gradientCheckpointing?: boolean;
  /** The parameters that are trained: all by default, or an adapter's. */
  trained?: Shapes;
}

export function trainingMemory(config: ModelConfig, options: TrainingOptions = {}): TrainingMemory {
  const { gradientCheckpointing = false, trained = parameterShapes(config) } = options;
  const { tokenBudget = defaultTokenBudget(config, gradientCheckpointing) } = options;
  const trainedBytes = float * count(trained);
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
 * Padded tokens of one batch. Each batch costs as if it had some more, for the gradients of all weights, so that activations may
 * take as much memory as weights, gradients and moments do, and 1.5 GiB in any case.
 */
export function defaultTokenBudget(config: ModelConfig, gradientCheckpointing = false): number {
  const most = Math.max(leastActivations, 5 * float * parameterCount(config));
  return Math.max(1, Math.min(4096, Math.floor(most / activationBytes(config, gradientCheckpointing))));
}

/**
 * Of one token, forward and backward, in rows of a few hundred. The factors were fitted to measured peaks of models with 1,
 * 15 and 100 million parameters: within an eighth of each.
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
  // With checkpointing, one layer at a time and what enters each.
  const trunk = gradientCheckpointing ? layer + layers * width : layers * layer;
  return float * (trunk + 4 * config.vocab_size);
}

function count(shapes: Shapes): number {
  return [...shapes.values()].reduce((sum, shape) => sum + sizeOf(shape), 0);
}
