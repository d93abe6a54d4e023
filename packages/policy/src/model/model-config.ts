/** The configuration of a model: the fields of a Hugging Face config.json that the computation depends on. */
import { ToolEnvError } from '@toolenv/core';
import { type RopeScaling, readRopeScaling } from './rope-scaling.ts';

/** The supported architectures. Relatives of Llama, such as SmolLM2, have `llama` in their config.json. */
const modelTypes = ['qwen2', 'qwen3', 'llama', 'mistral'] as const;

export interface ModelConfig {
  model_type: (typeof modelTypes)[number];
  vocab_size: number;
  hidden_size: number;
  intermediate_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  /** Default: hidden_size / num_attention_heads. */
  head_dim?: number;
  max_position_embeddings: number;
  rms_norm_eps: number;
  rope_theta: number;
  rope_scaling?: RopeScaling;
  tie_word_embeddings: boolean;
  /** Llama and Qwen3: whether the attention projections have biases. In Qwen2, all but the output projection have them. */
  attention_bias?: boolean;
  /** Llama: whether the MLP projections have biases. */
  mlp_bias?: boolean;
}

export function headWidth(config: ModelConfig): number {
  return config.head_dim ?? config.hidden_size / config.num_attention_heads;
}

const counts = [
  'vocab_size',
  'hidden_size',
  'intermediate_size',
  'num_hidden_layers',
  'num_attention_heads',
  'num_key_value_heads',
  'max_position_embeddings',
] as const;

/**
 * Reads a parsed config.json of older and newer versions of transformers. Errors name `file`.
 * @throws ToolEnvError `usage.checkpoint_unsupported` or `usage.checkpoint_damaged`.
 */
export function readModelConfig(
  file: string,
  given: Record<string, unknown>,
): ModelConfig & Record<string, unknown> {
  const refuse = (code: 'unsupported' | 'damaged', what: string) =>
    new ToolEnvError(`usage.checkpoint_${code}`, `${file}: ${what}.`);
  if (!modelTypes.some((known) => known === given.model_type)) {
    const known = modelTypes.join(', ');
    throw refuse(
      'unsupported',
      `model_type "${given.model_type}" is not supported; use a checkpoint of ${known}`,
    );
  }
  // Mistral has sliding windows unless sliding_window is null. The Qwens have them only if use_sliding_window is true.
  const windowed = given.model_type === 'mistral' ? given.sliding_window !== null : given.use_sliding_window;
  if (windowed)
    throw refuse('unsupported', 'sliding-window attention is not supported; use a checkpoint without it');
  if (given.hidden_act !== undefined && given.hidden_act !== 'silu')
    throw refuse(
      'unsupported',
      `hidden_act "${given.hidden_act}" is not supported; use a checkpoint with silu`,
    );

  // transformers 5 moved rope_theta and rope_scaling into rope_parameters.
  const { rope_theta: theta, ...scaling } = (given.rope_parameters ?? {}) as Record<string, unknown>;
  const config = {
    tie_word_embeddings: false,
    num_key_value_heads: given.num_attention_heads,
    ...given,
    head_dim: given.head_dim ?? undefined,
    rope_theta: given.rope_theta ?? theta ?? 10_000,
    rope_scaling: readRopeScaling(given.rope_scaling ?? scaling, (what) => refuse('unsupported', what)),
  } as ModelConfig & Record<string, unknown>;
  for (const name of counts) {
    if (!Number.isSafeInteger(config[name]) || config[name] < 1)
      throw refuse('damaged', `${name} is ${JSON.stringify(config[name])}, not a positive whole number`);
  }
  if (!(config.rms_norm_eps > 0))
    throw refuse('damaged', `rms_norm_eps is ${JSON.stringify(config.rms_norm_eps)}, not a positive number`);
  if (config.num_attention_heads % config.num_key_value_heads !== 0)
    throw refuse('damaged', 'num_attention_heads is not a multiple of num_key_value_heads');
  if (headWidth(config) % 2 !== 0) throw refuse('damaged', `the head width ${headWidth(config)} is not even`);
  return config;
}
