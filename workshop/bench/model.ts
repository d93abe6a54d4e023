/** The models that both sides of a benchmark run: one of the demo's size, and larger ones. */
import { createRng } from '@toolenv/core';
import {
  type Checkpoint,
  createModel,
  type Model,
  type ModelConfig,
  parameterShapes,
  type Tensors,
  tensor,
} from '@toolenv/policy';

const common = {
  model_type: 'qwen2' as const,
  max_position_embeddings: 1024,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

/** By number of parameters. */
export const sizes: Record<string, ModelConfig> = {
  '1m': sized(800, 128, 384, 4, [4, 2]),
  '15m': sized(4096, 384, 1152, 8, [6, 2]),
  '100m': sized(16_384, 768, 2560, 12, [12, 4]),
  // The shape of SmolLM2-135M.
  '135m': sized(49_152, 576, 1536, 30, [9, 3]),
  // The shape of Qwen2.5-0.5B.
  '500m': sized(151_936, 896, 4864, 24, [14, 2]),
};

/** @param heads Of attention: those of queries, and those of keys and values. */
function sized(
  vocabulary: number,
  width: number,
  inner: number,
  layers: number,
  [heads, keyValueHeads]: readonly [number, number],
): ModelConfig {
  return {
    ...common,
    vocab_size: vocabulary,
    hidden_size: width,
    intermediate_size: inner,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: keyValueHeads,
  };
}

/** A configuration in the form that the peers read. */
export function modelShape(config: ModelConfig) {
  return {
    vocabulary: config.vocab_size,
    width: config.hidden_size,
    inner: config.intermediate_size,
    layers: config.num_hidden_layers,
    heads: config.num_attention_heads,
    keyValueHeads: config.num_key_value_heads,
  };
}

/**
 * Number of random numbers per matrix, which are then repeated, because drawing half a billion would take minutes. A prime, so
 * that no two rows are equal.
 */
const maxDrawn = 1_000_003;

/** The model with random weights of standard deviation 0.02. */
export function randomModel(config: ModelConfig): Model {
  const weights: Tensors = {};
  for (const [name, shape] of parameterShapes(config)) {
    const rng = createRng(1, name);
    const data = new Float32Array(shape.reduce((product, dim) => product * dim, 1));
    const centre = name.endsWith('norm.weight') ? 1 : 0;
    const spread = 0.02 * Math.sqrt(12);
    const drawn = Math.min(data.length, maxDrawn);
    for (let i = 0; i < drawn; i++) data[i] = centre + spread * (rng.float() - 0.5);
    for (let i = drawn; i < data.length; i += drawn) data.copyWithin(i, 0, drawn);
    weights[name] = tensor(data, shape);
  }
  return createModel(config, weights);
}

/** What a learner saves together with the weights; empty, because a benchmark saves nothing. */
export function unsavedCheckpoint({ config, weights }: Model): Checkpoint {
  return { folder: 'bench', config, weights, tokenizer: {}, tokenizerConfig: {}, endTokens: [], files: {} };
}

/** Random token ids [length] below `vocabulary`. */
export function randomTokens(vocabulary: number, length: number, ...path: (string | number)[]): Int32Array {
  const rng = createRng(2, ...path);
  return Int32Array.from({ length }, () => rng.int(vocabulary));
}
