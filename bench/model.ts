/** The model and the shapes that both sides of a benchmark run: the demo's. */
import { createRng } from '@toolenv/core';
import {
  type Checkpoint,
  createModel,
  type Model,
  parameterShapes,
  type Qwen2Config,
  type Tensors,
  tensor,
} from '@toolenv/policy';

export const config: Qwen2Config = {
  vocab_size: 800,
  hidden_size: 128,
  intermediate_size: 384,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 1024,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

/** The model with random weights of standard deviation 0.02. */
export function randomModel(): Model {
  const weights: Tensors = {};
  for (const [name, shape] of parameterShapes(config)) {
    const rng = createRng(1, name);
    const size = shape.reduce((product, dim) => product * dim, 1);
    const centre = name.endsWith('norm.weight') ? 1 : 0;
    const spread = 0.02 * Math.sqrt(12);
    weights[name] = tensor(
      Float32Array.from({ length: size }, () => centre + spread * (rng.float() - 0.5)),
      shape,
    );
  }
  return createModel(config, weights);
}

/** What a learner saves beside the weights; a benchmark saves nothing. */
export function unsavedCheckpoint({ config, weights }: Model): Checkpoint {
  return { folder: 'bench', config, weights, tokenizer: {}, tokenizerConfig: {}, endTokens: [], files: {} };
}

/** Random token ids [length]. */
export function randomTokens(length: number, ...path: (string | number)[]): Int32Array {
  const rng = createRng(2, ...path);
  return Int32Array.from({ length }, () => rng.int(config.vocab_size));
}
