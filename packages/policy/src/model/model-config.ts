/** The configuration of a model: the fields of a Hugging Face config.json that the computation depends on. */
import type { RopeScaling } from './rope-scaling.ts';

/** The supported architectures. Relatives of Llama, such as SmolLM2, have `llama` in their config.json. */
export type ModelType =
  | 'qwen2'
  | 'qwen3'
  | 'llama'
  | 'mistral'
  | 'granite'
  | 'smollm3'
  | 'olmo2'
  | 'gemma3_text'
  | 'phi3'
  | 'cohere2';

export interface ModelConfig {
  model_type: ModelType;
  vocab_size: number;
  hidden_size: number;
  intermediate_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  /** Default: hidden_size / num_attention_heads. */
  head_dim?: number;
  max_position_embeddings: number;
  /** The epsilon of the norms. Cohere2 calls it `layer_norm_eps`. */
  rms_norm_eps: number;
  rope_theta: number;
  rope_scaling?: RopeScaling;
  tie_word_embeddings: boolean;
  /** Whether the attention projections have biases. In Qwen2, all but the output projection have them. */
  attention_bias?: boolean | null;
  /** Whether the MLP projections have biases. */
  mlp_bias?: boolean | null;
  /** The positions that a windowed layer attends to, its own included. */
  sliding_window?: number | null;
  /** For each layer `sliding_attention` or `full_attention`. Default: as the fields below say. */
  layer_types?: readonly string[] | null;
  /** Qwen, SmolLM3: whether there are windows. */
  use_sliding_window?: boolean | null;
  /** Qwen: the first layer with a window. */
  max_window_layers?: number;
  /** Gemma 3, Cohere2: one layer of so many has no window. Default 6, and 4 in Cohere2. */
  sliding_window_pattern?: number;
  /** Gemma 3: the base of the rotary positions in layers with a window. */
  rope_local_base_freq?: number;
  /** Gemma 3: scores are divided by its root. Default: the head width. */
  query_pre_attn_scalar?: number;
  /** SmolLM3: 0 for layers without rotary positions. Default: one layer of `no_rope_layer_interval`, which is 4. */
  no_rope_layers?: readonly number[] | null;
  no_rope_layer_interval?: number;
  /** Granite: factors of the embeddings, the scores, and what a layer adds; the divisor of the logits. Default 1. */
  embedding_multiplier?: number;
  attention_multiplier?: number;
  residual_multiplier?: number;
  logits_scaling?: number;
  /** Cohere2: the factor of the logits. Default 0.0625. */
  logit_scale?: number;
}

export function headWidth(config: ModelConfig): number {
  return config.head_dim ?? config.hidden_size / config.num_attention_heads;
}
