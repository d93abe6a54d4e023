/** The traits of published configurations, in the forms of older and newer versions of transformers. */
import { expect, test } from 'vitest';
import type { Architecture } from '../../src/model/architecture.ts';
import { architectureOf } from '../../src/model/known-architectures.ts';
import type { ModelConfig } from '../../src/model/model-config.ts';
import { readModelConfig } from '../../src/model/read-model-config.ts';
import { rotaryTables } from '../../src/model/rotary.ts';

const sizes = {
  vocab_size: 1000,
  hidden_size: 1152,
  intermediate_size: 6912,
  num_attention_heads: 4,
  num_key_value_heads: 1,
  rms_norm_eps: 1e-6,
  max_position_embeddings: 32_768,
};

function read(fields: object): { config: ModelConfig; traits: Architecture; windowed: number[] } {
  const config = readModelConfig('config.json', { ...sizes, num_hidden_layers: 12, ...fields });
  const traits = architectureOf(config);
  const layers = [...Array(config.num_hidden_layers).keys()];
  return { config, traits, windowed: layers.filter((layer) => traits.layer(layer).windowed) };
}

test('Mistral has windows of 4,096 positions, if nothing else is given', () => {
  expect(read({ model_type: 'mistral' })).toMatchObject({
    traits: { window: 4096 },
    windowed: { length: 12 },
  });
  expect(read({ model_type: 'mistral', sliding_window: 512 }).traits.window).toBe(512);
});

test.each([
  { model_type: 'mistral', sliding_window: null },
  { model_type: 'mistral', sliding_window: 32_768 },
  { model_type: 'mistral', max_position_embeddings: 4096 },
  // Qwen2.5-7B-Instruct.
  { model_type: 'qwen2', use_sliding_window: false, sliding_window: 131_072, max_window_layers: 28 },
  { model_type: 'qwen2', use_sliding_window: false, sliding_window: 512, max_window_layers: 0 },
  { model_type: 'qwen2', use_sliding_window: true, sliding_window: 512, max_window_layers: 12 },
  { model_type: 'qwen3', use_sliding_window: true, layer_types: Array(12).fill('full_attention') },
  { model_type: 'smollm3', use_sliding_window: false, sliding_window: 512 },
  { model_type: 'llama', sliding_window: 512 },
])('%j has no windowed layer', (fields) => {
  expect(read(fields).windowed).toEqual([]);
});

test('the upper layers of a Qwen have windows, or those that layer_types names', () => {
  const fields = {
    model_type: 'qwen2',
    use_sliding_window: true,
    sliding_window: 512,
    max_window_layers: 10,
  };
  expect(read(fields).windowed).toEqual([10, 11]);
  const kinds = [...Array(11).fill('full_attention'), 'sliding_attention'];
  expect(read({ ...fields, layer_types: kinds }).windowed).toEqual([11]);
});

test('Gemma 3 is read in its published form and in that of transformers 5', () => {
  const published = {
    model_type: 'gemma3_text',
    head_dim: 256,
    hidden_activation: 'gelu_pytorch_tanh',
    query_pre_attn_scalar: 256,
    sliding_window: 512,
  };
  const older = {
    rope_local_base_freq: 10_000,
    rope_theta: 1_000_000,
    rope_scaling: null,
    sliding_window_pattern: 6,
  };
  const newer = {
    layer_types: Array.from({ length: 12 }, (_, layer) =>
      layer % 6 === 5 ? 'full_attention' : 'sliding_attention',
    ),
    rope_parameters: {
      sliding_attention: { rope_type: 'default', rope_theta: 10_000 },
      full_attention: { rope_type: 'default', rope_theta: 1_000_000 },
    },
  };
  for (const form of [older, newer, {}]) {
    const { config, traits, windowed } = read({ ...published, ...form });
    expect(config).toMatchObject({ tie_word_embeddings: true, rope_theta: 1e6, rope_local_base_freq: 1e4 });
    expect(windowed).toEqual([0, 1, 2, 3, 4, 6, 7, 8, 9, 10]);
    expect([4, 5].map((layer) => traits.layer(layer).rotary)).toEqual(['rotary.local', 'rotary']);
    expect(traits.factors).toMatchObject({ embeddings: Math.sqrt(1152), scores: 1 });
  }
  // 27B: 5376 / 32 is not the head width.
  expect(read({ ...published, head_dim: 128, query_pre_attn_scalar: 168 }).traits.factors.scores).toBe(
    Math.sqrt(128 / 168),
  );
});

test('a layer of four of SmolLM3 knows no positions', () => {
  const { config, traits } = read({ model_type: 'smollm3' });
  expect(config).toMatchObject({ tie_word_embeddings: true, rope_theta: 2e6 });
  expect([...Array(5).keys()].map((layer) => traits.layer(layer).rotary)).toEqual([
    'rotary',
    'rotary',
    'rotary',
    undefined,
    'rotary',
  ]);
});

test('OLMo 3 is read in its published form, with YaRN in the layers without a window', () => {
  const published = {
    model_type: 'olmo3',
    rope_theta: 500_000,
    rope_scaling: { rope_type: 'yarn', factor: 8, original_max_position_embeddings: 8192 },
    sliding_window: 4096,
  };
  const { config, traits, windowed } = read({ ...published, num_hidden_layers: 8 });
  expect(config).toMatchObject({ rope_theta: 5e5, rope_scaling: { factor: 8 } });
  expect(windowed).toEqual([0, 1, 2, 4, 5, 6]);
  expect([2, 3].map((layer) => traits.layer(layer).rotary)).toEqual(['rotary.local', 'rotary']);
  const tables = rotaryTables({ ...config, max_position_embeddings: 8 });
  const frequency = (name: string, i: number) => tables[`${name}.sin`]!.data[144 + i]!;
  // Both kinds have the base of the whole; the last frequency is an eighth with YaRN.
  expect(frequency('rotary', 143) / frequency('rotary.local', 143)).toBeCloseTo(
    (0.1 * Math.log(8) + 1) / 8,
    5,
  );
});

test('EXAONE 4 has patterns as text or number, and positions in all layers where none has a window', () => {
  const large = { model_type: 'exaone4', sliding_window: 4096, num_hidden_layers: 8 };
  for (const pattern of [4, 'LLLG', undefined]) {
    const { traits, windowed } = read({ ...large, sliding_window_pattern: pattern });
    expect(windowed).toEqual([0, 1, 2, 4, 5, 6]);
    expect([2, 3].map((layer) => traits.layer(layer).rotary)).toEqual(['rotary', undefined]);
  }
  const small = read({ model_type: 'exaone4', sliding_window: null, sliding_window_pattern: null });
  expect(small.windowed).toEqual([]);
  expect(small.traits.layer(3).rotary).toBe('rotary');
});

test('Phi is read with LongRoPE in its published forms: the context of the short factors, part of each head', () => {
  const short_factor = Array.from({ length: 48 }, (_, i) => 1 + i / 10);
  const published = {
    ...{ model_type: 'phi3', hidden_size: 3072, num_attention_heads: 24, num_key_value_heads: 8 },
    ...{ max_position_embeddings: 131_072, original_max_position_embeddings: 4096 },
    partial_rotary_factor: 0.75,
    rope_scaling: { type: 'longrope', short_factor, long_factor: Array(48).fill(32) },
  };
  const { config } = read(published);
  const attention_factor = Math.sqrt(1 + Math.log(32) / Math.log(4096));
  expect(config).toMatchObject({
    max_position_embeddings: 4096,
    rope_scaling: { rope_type: 'longrope', attention_factor },
  });
  const { 'rotary.cos': cos, 'rotary.sin': sin } = rotaryTables(config);
  expect(cos!.dims[1]).toBe(48);
  expect(cos!.data[0]).toBeCloseTo(attention_factor, 6);
  const angle = Math.atan2(sin!.data[48 + 7]!, cos!.data[48 + 7]!);
  expect(angle).toBeCloseTo(1 / (short_factor[7]! * 10_000 ** (7 / 48)), 6);
  const { type: _, ...factors } = published.rope_scaling;
  // Phi-3-mini-128k.
  expect(read({ ...published, rope_scaling: { type: 'su', ...factors } }).config).toEqual(config);
  expect(() => read({ ...published, partial_rotary_factor: 1 })).toThrow(
    /short_factor has 48 numbers instead of 64/,
  );
});

test('mixtures of experts are read in their published forms', () => {
  // Qwen3-30B-A3B, and as transformers 5 saves it.
  const qwen = {
    ...{ model_type: 'qwen3_moe', head_dim: 128, sliding_window: null, use_sliding_window: false },
    ...{ num_experts_per_tok: 8, moe_intermediate_size: 768, norm_topk_prob: true, mlp_only_layers: [] },
  };
  for (const count of [{ num_experts: 128 }, { num_local_experts: 128 }]) {
    const { traits, windowed } = read({ ...qwen, ...count, decoder_sparse_step: 1 });
    expect(traits).toMatchObject({ experts: { count: 128, chosen: 8, width: 768, normalised: true } });
    expect(windowed).toEqual([]);
    expect(traits.layer(0).mixture).toBe(true);
  }
  const some = read({ ...qwen, num_experts: 128, decoder_sparse_step: 2, mlp_only_layers: [3] }).traits;
  expect([0, 1, 2, 3, 5].map((layer) => some.layer(layer).mixture)).toEqual([
    false,
    true,
    false,
    false,
    true,
  ]);
  // OLMoE-1B-7B.
  const { traits } = read({ model_type: 'olmoe', num_experts: 64, num_experts_per_tok: 8, clip_qkv: null });
  expect(traits).toMatchObject({ experts: { count: 64, chosen: 8, width: 6912, normalised: false } });
});

test('Granite scales embeddings, scores, additions and logits', () => {
  const { traits } = read({
    model_type: 'granite',
    embedding_multiplier: 12,
    attention_multiplier: 0.015625,
    residual_multiplier: 0.22,
    logits_scaling: 8,
  });
  const scores = 0.015625 * Math.sqrt(1152 / 4);
  expect(traits.factors).toEqual({ embeddings: 12, scores, additions: 0.22, logits: 1 / 8 });
});

test('Cohere 2 is read in its published form: layers with a window know positions, and a layer of four has neither', () => {
  const { rms_norm_eps: _, ...others } = sizes;
  const given = { ...others, model_type: 'cohere2', num_hidden_layers: 8 };
  const readOne = (fields: object) => {
    const config = readModelConfig('config.json', { ...given, ...fields });
    return { config, traits: architectureOf(config) };
  };
  // Command R7B.
  const { config, traits } = readOne({ layer_norm_eps: 1e-6, logit_scale: 0.25, sliding_window_pattern: 4 });
  expect(config).toMatchObject({ rms_norm_eps: 1e-6, tie_word_embeddings: true, rope_theta: 10_000 });
  expect(traits).toMatchObject({ window: 4096, factors: { logits: 0.25 } });
  expect([2, 3, 4, 7].map((layer) => traits.layer(layer))).toEqual([
    { windowed: true, rotary: 'rotary' },
    { windowed: false, rotary: undefined },
    { windowed: true, rotary: 'rotary' },
    { windowed: false, rotary: undefined },
  ]);
  const defaults = readOne({});
  expect(defaults.config.rms_norm_eps).toBe(1e-5);
  expect(defaults.traits.factors.logits).toBe(0.0625);
  expect(() => readOne({ sliding_window: null })).toThrow(/sliding_window is null, which is not supported/);
});
