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
  num_key_value_heads: 2,
  model_type: 'qwen2' as const,
  max_position_embeddings: 1024,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

/** By number of parameters. */
export const sizes: Record<string, ModelConfig> = {
  '1m': {
    ...common,
    vocab_size: 800,
    hidden_size: 128,
    intermediate_size: 384,
    num_hidden_layers: 4,
    num_attention_heads: 4,
  },
  '15m': {
    ...common,
    vocab_size: 4096,
    hidden_size: 384,
    intermediate_size: 1152,
    num_hidden_layers: 8,
    num_attention_heads: 6,
  },
  '100m': {
    ...common,
    vocab_size: 16_384,
    hidden_size: 768,
    intermediate_size: 2560,
    num_hidden_layers: 12,
    num_attention_heads: 12,
    num_key_value_heads: 4,
  },
  // The shape of SmolLM2-135M.
  '135m': {
    ...common,
    vocab_size: 49_152,
    hidden_size: 576,
    intermediate_size: 1536,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
  },
  // The shape of Qwen2.5-0.5B.
  '500m': {
    ...common,
    vocab_size: 151_936,
    hidden_size: 896,
    intermediate_size: 4864,
    num_hidden_layers: 24,
    num_attention_heads: 14,
  },
};

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
