/** Reads and checks the configuration of a model in a parsed config.json. */
import { ToolEnvError } from '@toolenv/core';
import { checkFields } from './check-fields.ts';
import {
  architectureOf,
  defaultsOf,
  epsilonFieldOf,
  fieldsOf,
  layerTypesOf,
  modelTypes,
  slidingAttention,
  turnsPartly,
} from './known-architectures.ts';
import { headWidth, type ModelConfig, type ModelType, turnedWidth } from './model-config.ts';
import { readRopeScaling } from './rope-scaling.ts';

/** The rotary tables have a row for each position. */
const maxPositions = 2 ** 21;

const count = { type: 'integer', minimum: 1, maximum: 2 ** 31 - 1 };
const factor = { type: 'number', exclusiveMinimum: 0, maximum: 1e6 };
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
    max_position_embeddings: { ...count, maximum: maxPositions },
    rms_norm_eps: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    rope_theta: { type: 'number', exclusiveMinimum: 1, maximum: 1e12 },
    tie_word_embeddings: { type: 'boolean' },
    attention_bias: flag,
    mlp_bias: flag,
    sliding_window: { ...count, type: ['integer', 'null'] },
    layer_types: { type: ['array', 'null'], items: { type: 'string' } },
    use_sliding_window: flag,
    max_window_layers: { ...count, minimum: 0 },
    sliding_window_pattern: count,
    linear_num_key_heads: count,
    linear_num_value_heads: count,
    linear_key_head_dim: count,
    linear_value_head_dim: count,
    linear_conv_kernel_dim: { ...count, minimum: 2, maximum: 64 },
    full_attention_interval: count,
    conv_L_cache: { ...count, minimum: 2, maximum: 64 },
    conv_bias: flag,
    full_attn_idxs: { type: ['array', 'null'], items: { type: 'integer', minimum: 0 } },
    partial_rotary_factor: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    num_experts: count,
    num_experts_per_tok: count,
    norm_topk_prob: flag,
    moe_intermediate_size: count,
    decoder_sparse_step: count,
    mlp_only_layers: { type: ['array', 'null'], items: { type: 'integer', minimum: 0 } },
    rope_local_base_freq: { type: 'number', exclusiveMinimum: 1, maximum: 1e12 },
    query_pre_attn_scalar: factor,
    no_rope_layers: { type: ['array', 'null'], items: { enum: [0, 1] } },
    no_rope_layer_interval: count,
    embedding_multiplier: factor,
    attention_multiplier: factor,
    residual_multiplier: factor,
    logits_scaling: factor,
    logit_scale: factor,
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
  const type = modelTypes.find((known) => known === given.model_type);
  if (!type) {
    const known = modelTypes.join(', ');
    throw unsupported(`model_type ${shown(given.model_type)} is not supported; use a checkpoint of ${known}`);
  }
  for (const name of ['rope_parameters', 'rope_scaling']) {
    const value = given[name] ?? {};
    if (typeof value !== 'object' || Array.isArray(value)) throw damaged(`${name} is not an object`);
  }
  const experts = given.num_experts ?? given.num_local_experts;
  const config = {
    ...defaultsOf(type),
    ...given,
    // transformers 5 saves the number under the second name.
    ...(experts !== undefined && { num_experts: experts }),
    sliding_window_pattern: patternOf(given) ?? defaultsOf(type).sliding_window_pattern,
    tie_word_embeddings: given.tie_word_embeddings ?? defaultsOf(type).tie_word_embeddings ?? false,
    num_key_value_heads: given.num_key_value_heads ?? given.num_attention_heads,
    rms_norm_eps: given[epsilonFieldOf(type)] ?? defaultsOf(type).rms_norm_eps,
    head_dim: given.head_dim ?? defaultsOf(type).head_dim,
    ...ropeOf(type, given, unsupported),
    ...fieldsOf(type, given),
  } as ModelConfig & Record<string, unknown>;
  checkFields(file, schema, config);
  refuseUnsupported(config, unsupported);
  if (config.num_attention_heads % config.num_key_value_heads !== 0)
    throw damaged(
      `num_attention_heads is ${config.num_attention_heads} and must be a multiple of num_key_value_heads, ${config.num_key_value_heads}`,
    );
  for (const [what, width] of [
    ['head width', headWidth(config)],
    ['turned part of the head width', turnedWidth(config)],
  ] as const)
    if (width % 2 !== 0) throw damaged(`the ${what} ${width} is not even`);
  checkExperts(config, damaged);
  const { deltaNet } = architectureOf(config);
  if (deltaNet && deltaNet.valueHeads % deltaNet.keyHeads !== 0)
    throw damaged(
      `linear_num_value_heads is ${deltaNet.valueHeads} and must be a multiple of linear_num_key_heads, ${deltaNet.keyHeads}`,
    );
  const scaling = config.rope_scaling;
  if (scaling?.rope_type === 'longrope') {
    const expected = turnedWidth(config) / 2;
    if (scaling.short_factor.length !== expected)
      throw damaged(`short_factor has ${scaling.short_factor.length} numbers instead of ${expected}`);
    config.max_position_embeddings = Math.min(
      config.max_position_embeddings,
      scaling.original_max_position_embeddings,
    );
  }
  for (const field of ['layer_types', 'no_rope_layers'] as const) {
    const given = config[field]?.length ?? config.num_hidden_layers;
    if (given < config.num_hidden_layers)
      throw damaged(`${field} has ${given} entries for ${config.num_hidden_layers} layers`);
  }
  return config;
}

/**
 * transformers 5 moved rope_theta and rope_scaling into rope_parameters. Gemma 3 has such parameters for each kind of layers, and
 * no scaling in the layers with a window.
 */
function ropeOf(
  type: ModelType,
  given: Record<string, unknown>,
  unsupported: (what: string) => Error,
): Record<string, unknown> {
  const all = (given.rope_parameters ?? {}) as Record<string, unknown>;
  const { rope_theta: theta, ...scaling } = (all.full_attention ?? all) as Record<string, unknown>;
  const { rope_theta: local, rope_type: kind = 'default' } = (all[slidingAttention] ?? {}) as typeof all;
  // Phi-3 has the context of its first training beside the scaling.
  const { original_max_position_embeddings: original } = given;
  if (kind !== 'default')
    throw unsupported(`rope_type ${shown(kind)} of ${slidingAttention} is not supported`);
  return {
    rope_theta: given.rope_theta ?? theta ?? defaultsOf(type).rope_theta ?? 10_000,
    rope_scaling: readRopeScaling(
      {
        ...(original !== undefined && { original_max_position_embeddings: original }),
        ...(given.rope_scaling ?? scaling),
      },
      given.max_position_embeddings,
      unsupported,
    ),
    partial_rotary_factor:
      given.partial_rotary_factor ??
      scaling.partial_rotary_factor ??
      defaultsOf(type).partial_rotary_factor ??
      1,
    ...(local !== undefined && { rope_local_base_freq: local }),
  };
}

/** EXAONE 4 has patterns such as LLLG, which are as long as newer files say, and 0 for none. */
function patternOf({ sliding_window_pattern: pattern }: Record<string, unknown>): unknown {
  return typeof pattern === 'string' ? pattern.length : pattern || undefined;
}

function checkExperts(config: ModelConfig, damaged: (what: string) => Error): void {
  const { experts } = architectureOf(config);
  if (!experts) return;
  const needed = {
    num_experts: experts.count,
    num_experts_per_tok: experts.chosen,
    'the width of experts': experts.width,
  };
  for (const [name, value] of Object.entries(needed))
    if (value === undefined) throw damaged(`${name} is missing`);
  if (experts.chosen > experts.count)
    throw damaged(`num_experts_per_tok is ${experts.chosen}, and num_experts only ${experts.count}`);
}

/** The only supported value of fields that change the computation. */
const supportedValues: Record<string, unknown> = {
  attn_logit_softcapping: null,
  final_logit_softcapping: null,
  use_bidirectional_attention: false,
  clip_qkv: null,
};

function refuseUnsupported(
  config: ModelConfig & Record<string, unknown>,
  unsupported: (what: string) => Error,
): void {
  const { name, field } = architectureOf(config).activation;
  if (config[field] !== undefined && config[field] !== name)
    throw unsupported(`${field} ${shown(config[field])} is not supported; use a checkpoint with ${name}`);
  for (const [field, value] of Object.entries(supportedValues)) {
    if ((config[field] ?? value) === value) continue;
    throw unsupported(
      `${field} is ${JSON.stringify(config[field]).slice(0, 40)}, which is not supported; use a checkpoint with ${value}`,
    );
  }
  if (config.partial_rotary_factor !== 1 && !turnsPartly(config.model_type))
    throw unsupported(
      `partial_rotary_factor is ${config.partial_rotary_factor}, which is not supported in ${config.model_type}; use a checkpoint with 1`,
    );
  if (config.model_type === 'cohere2' && config.sliding_window === null)
    throw unsupported('sliding_window is null, which is not supported; use a checkpoint with a number');
  const kinds = layerTypesOf(config.model_type);
  const other = config.layer_types?.find((kind) => !kinds.includes(kind));
  if (other !== undefined)
    throw unsupported(
      `layer_types has ${shown(other)}, which is not supported; use a checkpoint with ${kinds.join(', ')} only`,
    );
}

/** A value that should be a word, for an error. */
function shown(value: unknown): string {
  if (typeof value !== 'string') return `of type ${typeof value}`;
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}
