/** The configuration of a model: the fields of a Hugging Face config.json that the computation depends on. */
import type { RopeScaling } from './rope-scaling.ts';

/** The supported architectures. Relatives of Llama, such as SmolLM2, have `llama` in their config.json. */
export type ModelType =
  | 'qwen2'
  | 'qwen3'
  | 'qwen3_moe'
  | 'qwen3_5_text'
  | 'lfm2'
  | 'olmoe'
  | 'llama'
  | 'mistral'
  | 'granite'
  | 'smollm3'
  | 'olmo2'
  | 'olmo3'
  | 'exaone4'
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
  /** Phi-3, Qwen3.5: the share of each head that rotary positions turn. Default 1, and in Qwen3.5 a quarter. */
  partial_rotary_factor?: number;
  tie_word_embeddings: boolean;
  /** Whether the attention projections have biases. In Qwen2, all but the output projection have them. */
  attention_bias?: boolean | null;
  /** Qwen3.5: the heads of delta nets and their widths, the taps of the convolution before, and the layers: one of so many attends. */
  linear_num_key_heads?: number;
  linear_num_value_heads?: number;
  linear_key_head_dim?: number;
  linear_value_head_dim?: number;
  linear_conv_kernel_dim?: number;
  full_attention_interval?: number;
  /** LFM2: the taps of convolutions, whether they have biases, and the layers that attend. */
  conv_L_cache?: number;
  conv_bias?: boolean | null;
  full_attn_idxs?: readonly number[] | null;
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
  /** Gemma 3, Cohere2, EXAONE 4: one layer of so many has no window. Default 6 in Gemma 3, and 4 in the others. */
  sliding_window_pattern?: number;
  /** Mixtures of experts: how many there are in a layer, and how many a token goes through. */
  num_experts?: number;
  num_experts_per_tok?: number;
  /** Whether the shares of a token's experts sum to 1. Default: false. */
  norm_topk_prob?: boolean;
  /** Qwen3: the width of an expert, and the layers with experts: one of so many, without those that are listed. */
  moe_intermediate_size?: number;
  decoder_sparse_step?: number;
  mlp_only_layers?: readonly number[] | null;
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

/** How many of a head's first numbers rotary positions turn. */
export function turnedWidth(config: ModelConfig): number {
  return Math.floor(headWidth(config) * (config.partial_rotary_factor ?? 1));
}

export function headWidth(config: ModelConfig): number {
  return config.head_dim ?? config.hidden_size / config.num_attention_heads;
}
