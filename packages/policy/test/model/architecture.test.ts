/** The traits of published configurations, in the forms of older and newer versions of transformers. */
import { expect, test } from 'vitest';
import { type Architecture, architectureOf } from '../../src/model/architecture.ts';
import type { ModelConfig } from '../../src/model/model-config.ts';
import { readModelConfig } from '../../src/model/read-model-config.ts';

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
