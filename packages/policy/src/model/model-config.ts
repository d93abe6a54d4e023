/** The configuration of a model: the fields of a Hugging Face config.json that the computation depends on. */
import { ToolEnvError } from '@toolenv/core';
import { checkFields } from '../checkpoint/check-fields.ts';
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

/** The rotary tables have a row for each position. */
const mostPositions = 2 ** 21;

const count = { type: 'integer', minimum: 1, maximum: 2 ** 31 - 1 };
const flag = { type: ['boolean', 'null'] };

/** Sizes are compared with the shapes of the weights later, before any weights are read. */
const schema = {
  type: 'object',
  properties: {
    vocab_size: count,
    hidden_size: count,
    intermediate_size: count,
    num_hidden_layers: count,
    num_attention_heads: count,
    num_key_value_heads: count,
    head_dim: count,
    max_position_embeddings: { ...count, maximum: mostPositions },
    rms_norm_eps: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    rope_theta: { type: 'number', exclusiveMinimum: 1, maximum: 1e12 },
    tie_word_embeddings: { type: 'boolean' },
    attention_bias: flag,
    mlp_bias: flag,
  },
  required: [
    'vocab_size',
    'hidden_size',
    'intermediate_size',
    'num_hidden_layers',
    'num_attention_heads',
    'max_position_embeddings',
    'rms_norm_eps',
  ],
};

/**
 * Reads a parsed config.json of older and newer versions of transformers. Errors name `file`.
 * @throws ToolEnvError `usage.checkpoint_unsupported` or `usage.checkpoint_damaged`.
 */
export function readModelConfig(
  file: string,
  given: Record<string, unknown>,
): ModelConfig & Record<string, unknown> {
  const unsupported = (what: string) => new ToolEnvError('usage.checkpoint_unsupported', `${file}: ${what}.`);
  const damaged = (what: string) =>
    new ToolEnvError('usage.checkpoint_damaged', `${file}: ${what}: copy it again.`);
  if (!modelTypes.some((known) => known === given.model_type)) {
    const known = modelTypes.join(', ');
    throw unsupported(`model_type ${shown(given.model_type)} is not supported; use a checkpoint of ${known}`);
  }
  // Mistral has sliding windows unless sliding_window is null. The Qwens have them only if use_sliding_window is true.
  const windowed = given.model_type === 'mistral' ? given.sliding_window !== null : given.use_sliding_window;
  if (windowed) throw unsupported('sliding-window attention is not supported; use a checkpoint without it');
  if (given.hidden_act !== undefined && given.hidden_act !== 'silu')
    throw unsupported(`hidden_act ${shown(given.hidden_act)} is not supported; use a checkpoint with silu`);

  // transformers 5 moved rope_theta and rope_scaling into rope_parameters.
  for (const name of ['rope_parameters', 'rope_scaling']) {
    const value = given[name] ?? {};
    if (typeof value !== 'object' || Array.isArray(value)) throw damaged(`${name} is not an object`);
  }
  const { rope_theta: theta, ...scaling } = (given.rope_parameters ?? {}) as Record<string, unknown>;
  const config = {
    ...given,
    tie_word_embeddings: given.tie_word_embeddings ?? false,
    num_key_value_heads: given.num_key_value_heads ?? given.num_attention_heads,
    head_dim: given.head_dim ?? undefined,
    rope_theta: given.rope_theta ?? theta ?? 10_000,
    rope_scaling: readRopeScaling(given.rope_scaling ?? scaling, unsupported),
  } as ModelConfig & Record<string, unknown>;
  checkFields(file, schema, config);
  if (config.num_attention_heads % config.num_key_value_heads !== 0)
    throw damaged(
      `num_attention_heads is ${config.num_attention_heads} and must be a multiple of num_key_value_heads, ${config.num_key_value_heads}`,
    );
  if (headWidth(config) % 2 !== 0) throw damaged(`the head width ${headWidth(config)} is not even`);
  return config;
}

/** A value that should be a word, for an error. */
function shown(value: unknown): string {
  if (typeof value !== 'string') return `of type ${typeof value}`;
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}
